"""`python -m s3haul`."""

from ._main import main

if __name__ == "__main__":
    main()
