# Not run and not parsed here. `nix run github:s3haul/s3haul?dir=packaging/nix`
{
  description = "Move, list, compare and change S3 data in bulk";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = nixpkgs.lib.genAttrs systems;
    in {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "s3haul";
            version = "0.1.0";
            src = ../..;
            cargoLock.lockFile = ../../Cargo.lock;
            cargoBuildFlags = [ "-p" "s3haul-cli" ];
            # The tests ask for servers and tools; `make test` runs them.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles pkgs.cmake ];
            dontUseCmakeConfigure = true;
            postInstall = ''
              cargo run --release -p s3haul-cli --example man -- man
              installManPage man/*.1
              for shell in bash zsh fish; do
                $out/bin/s3haul completions $shell > s3haul.$shell
              done
              installShellCompletion s3haul.{bash,zsh,fish}
            '';
            meta = {
              homepage = "https://github.com/s3haul/s3haul";
              license = pkgs.lib.licenses.asl20;
              mainProgram = "s3haul";
            };
          };
        });
    };
}
