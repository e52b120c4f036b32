# shellcheck shell=bash disable=SC2034,SC2154 # patterns are read by scripts; STATE is lib.sh's
# Large files from a mirror on the host or from a URL, for the scripts of the rig that need them; sourced beside lib.sh. A file counts only
# after its SHA-256 was found right. A download lies in the concern's state folder until forget_fetched; one that was cut off goes on there.

# An http(s) URL without credentials (they would be in the state and in the process list), or an absolute path on the host.
SOURCE_PATTERN='https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[A-Za-z0-9._~/%+=&?,-]+|/[A-Za-z0-9._/+-]+'
SOURCE_WORDS='an http(s) URL without user and password, or an absolute path on the host'
SHA256_PATTERN='[0-9a-f]{64}'
SHA256_WORDS='64 hexadecimal digits'

download() {
  say "fetching $1"
  if command -v curl >/dev/null; then
    bounded 7200 curl -fsSL --retry 3 --connect-timeout 20 -C - -o "$2" -- "$1" || fail "curl could not fetch $1 (exit code $?)"
  elif command -v wget >/dev/null; then
    bounded 7200 wget -q -c -t 3 -T 20 -O "$2" -- "$1" || fail "wget could not fetch $1 (exit code $?)"
  else
    precondition "neither curl nor wget is here to fetch $1: add one to the packages of base-system, or copy the file here and give its path"
  fi
}

# fetch SOURCE SHA256   sets FETCHED to a file of that content: SOURCE itself when it is a path
fetch() {
  local source=$1 sum=$2 found
  FETCHED=$source
  if [[ $source == http* ]]; then
    FETCHED=$STATE/fetched-${sum:0:16}
    if [ ! -e "$FETCHED" ]; then
      download "$source" "$FETCHED.part"
      mv "$FETCHED.part" "$FETCHED"
    fi
  elif [ ! -f "$source" ]; then
    precondition "there is no file $source on this host: copy it there, or give a URL"
  fi
  found=$(sha256sum <"$FETCHED")
  found=${found%% *}
  if [ "$found" != "$sum" ]; then
    if [ "$FETCHED" != "$source" ]; then rm -f "$FETCHED"; fi # a damaged download must not be found again
    fail "$source has SHA-256 ${found:0:16}..., wanted ${sum:0:16}...: it is damaged, or not the file that was meant"
  fi
}
forget_fetched() { rm -f "$STATE"/fetched-*; }
