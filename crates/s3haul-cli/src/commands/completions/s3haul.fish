# Completion of s3haul command lines for fish.

function __s3haul_complete
    set -l current (commandline -ct)
    set -l found (s3haul __complete fish '' (commandline -opc) (string unescape -- "$current") 2> /dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        # Where nothing is found, files are completed as for any other command.
        __fish_complete_path "$current"
    end
end

complete --command s3haul --no-files --keep-order --arguments '(__s3haul_complete)'
