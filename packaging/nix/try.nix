# Builds the package of the flake without nixpkgs, with the programs of this machine, to try it where nothing can be fetched.
{ flake, archives }:
let
  system = builtins.currentSystem;
  path = "/usr/bin:/bin";
  nixpkgs.legacyPackages.${system} = {
    fetchurl =
      { url, hash }:
      derivation {
        inherit system;
        name = baseNameOf url;
        builder = "/bin/sh";
        args = [
          "-c"
          "/bin/cp ${archives}/${baseNameOf url} $out"
        ];
        outputHash = hash;
        outputHashMode = "flat";
        outputHashAlgo = "sha256";
      };
    stdenvNoCC.mkDerivation =
      package:
      derivation {
        inherit system;
        inherit (package) src;
        name = "${package.pname}-${package.version}";
        PATH = path;
        builder = "/bin/sh";
        args = [
          "-euc"
          "tar -xzf $src && cd */ && ${package.installPhase}"
        ];
      };
  };
in
((import flake).outputs {
  self = { };
  inherit nixpkgs;
}).packages.${system}.default
