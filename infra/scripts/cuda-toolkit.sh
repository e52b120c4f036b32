#!/bin/bash
# The CUDA toolkit of one version from its runfile, and cuDNN from its archive, in /usr/local/cuda-VERSION, with one ldconfig file. The runfile is
# told --toolkit, so the driver that is in it stays in it. check compiles a kernel with nvcc, which needs a compiler that this toolkit accepts,
# and asks the linker's cache for the libraries that TensorFlow opens by name.
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/lib-fetch.sh
. "$(dirname "$0")/lib-fetch.sh"

param version '[0-9]{2}\.[0-9]{1,2}' 'a toolkit version as in 11.8'
param runfile "$SOURCE_PATTERN" "$SOURCE_WORDS"
param sha256 "$SHA256_PATTERN" "$SHA256_WORDS"
param cudnn "($SOURCE_PATTERN)?" "$SOURCE_WORDS, or empty for none" ''
param cudnnSha256 "($SHA256_PATTERN)?" "$SHA256_WORDS" ''

# Five GB unpacked for 11.8, with room for the installer's own copy of some of them.
param needMb '[0-9]{1,6}' 'a number of MB that must be free under /usr/local' 9000

home() { printf '/usr/local/cuda-%s' "${P[version]}"; }
lines_of() { printf '/etc/ld.so.conf.d/cuda-%s.conf' "${P[version]/./-}"; }
nvcc_version() { bounded 60 "$(home)/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p' || true; }
header() { sed -n "s/^#define CUDNN_$1 *//p" "$(home)/include/cudnn_version.h" 2>/dev/null || true; }
cudnn_version() { if [ -e "$(home)/include/cudnn_version.h" ]; then printf '%s.%s.%s' "$(header MAJOR)" "$(header MINOR)" "$(header PATCHLEVEL)"; fi; }
# Where the linker finds a library.
linked() { ldconfig -p | sed -n "s|^\t$1 (.*=> ||p" | head -n 1; }

facts() {
  if [ -z "${P[version]:-}" ]; then return; fi
  fact toolkit "$(nvcc_version)"
  fact cudnn "$(cudnn_version)"
}

want_files() {
  want_link /usr/local/cuda "$(home)"
  want_file "$(lines_of)" 644 root:root <<END
$(home)/lib64
END
}
# Two toolkits on the linker's path mix their libraries: TensorFlow then falls back to the CPU without a word.
other_lines() { grep -lsE '/cuda' /etc/ld.so.conf.d/*.conf | grep -vxF "$(lines_of)" | tr '\n' ' ' || true; }
compiles() {
  local folder code=0
  folder=$(mktemp -d)
  printf '__global__ void add(int *a) { a[threadIdx.x] += 1; }\n' >"$folder/add.cu"
  bounded 180 "$(home)/bin/nvcc" -c -o "$folder/add.o" "$folder/add.cu" || code=$?
  if [ ! -s "$folder/add.o" ]; then code=70; fi
  rm -rf "$folder"
  return "$code"
}
check() {
  local found
  want_files
  found=$(nvcc_version)
  if [ "$found" != "${P[version]}" ]; then
    differ toolkit "nvcc says ${found:-nothing}"
  elif ! compiles; then
    differ compiler 'nvcc cannot compile a kernel with the compiler of this host'
  fi
  found=$(other_lines)
  if [ -n "$found" ]; then differ ldconfig "other toolkits are on the linker's path: $found"; fi
  found=$(linked "libcudart.so.${P[version]%%.*}.[0-9]*")
  if [[ $found != "$(home)"/* ]]; then differ libcudart "the linker finds ${found:-none}"; fi
  if [ -n "${P[cudnn]}" ]; then
    found=$(cudnn_version)
    if [[ $found != 8.* ]]; then differ cudnn "found ${found:-none}; TensorFlow opens libcudnn.so.8"; fi
    found=$(linked libcudnn.so.8)
    if [[ $found != "$(home)"/* ]]; then differ libcudnn "the linker finds ${found:-none}"; fi
  fi
}

install_toolkit() {
  local free
  if [ "$(nvcc_version)" = "${P[version]}" ] && [ -e "$(home)/.envladder-complete" ]; then return; fi
  if [ -e "$(home)" ] && ! made_list versions | grep -qxF "$(home)"; then
    if [ "$(nvcc_version)" = "${P[version]}" ]; then return; fi # somebody else's, and good
    precondition "$(home) was here before and its nvcc does not say ${P[version]}: move it away"
  fi
  free=$(df -Pm /usr/local | awk 'NR == 2 {print $4}')
  [ "$free" -ge "${P[needMb]}" ] || precondition "$free MB are free under /usr/local, the toolkit needs ${P[needMb]}"
  fetch "${P[runfile]}" "${P[sha256]}"
  made versions "$(home)"
  rm -rf "$(home)"
  logged cuda-installer 3000 sh "$FETCHED" --silent --toolkit "--toolkitpath=$(home)" --no-man-page || {
    tail -n 15 /var/log/cuda-installer.log 2>/dev/null >&2 || true
    fail "the toolkit's installer failed; the whole log is /var/log/cuda-installer.log on the host"
  }
  touch "$(home)/.envladder-complete"
  changed "toolkit ${P[version]}"
}
# want_cudnn   the archive's include/ and lib/ into the toolkit's folders. Each file is written down before it is there
want_cudnn() {
  local folder file to
  if [ -z "${P[cudnn]}" ] || [ "$(kept cudnn-sum || true)" = "${P[cudnnSha256]}" ] && [ -e "$(home)/include/cudnn_version.h" ]; then return; fi
  fetch "${P[cudnn]}" "${P[cudnnSha256]}"
  folder=$STATE/cudnn
  rm -rf "$folder" "$STATE/cudnn-sum"
  mkdir "$folder"
  logged cudnn-unpack 900 tar -xf "$FETCHED" -C "$folder" --strip-components=1 --no-same-owner || fail "the cuDNN archive cannot be unpacked (xz comes with the package xz-utils)"
  [ -e "$folder/include/cudnn_version.h" ] || fail 'the cuDNN archive has no include/cudnn_version.h in its top folder: the archive for all of Linux is wanted, not a package'
  while IFS= read -r file; do
    case $file in include/*) to=$(home)/include/${file#include/} ;; *) to=$(home)/lib64/${file#lib/} ;; esac
    made cudnn-files "$to"
    mkdir -p "$(dirname "$to")"
    cp -Pf "$folder/$file" "$to"
  done < <(cd "$folder" && find include lib \( -type f -o -type l \))
  rm -rf "$folder"
  keep cudnn-sum "${P[cudnnSha256]}"
  changed "cudnn $(cudnn_version)"
}
apply() {
  if [ -n "${P[cudnn]}" ] && [ -z "${P[cudnnSha256]}" ]; then usage 'cudnnSha256 is missing: cudnn is given'; fi
  # Before the runfile writes files of the same names: what was there is kept.
  keep_path /usr/local/cuda
  keep_path "$(lines_of)"
  install_toolkit
  want_files
  want_cudnn
  forget_fetched
  bounded 120 ldconfig
}
revert() {
  local each
  while IFS= read -r each; do rm -f "$each"; done < <(made_list cudnn-files)
  while IFS= read -r each; do
    rm -rf "$each"
    changed "removed $each"
  done < <(made_list versions)
  if [ -n "$(made_list versions)" ]; then rm -f /var/log/cuda-installer.log; fi
  revert_paths
  bounded 120 ldconfig
}
main "$@"
