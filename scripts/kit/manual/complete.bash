# Prints the completions that bash offers for the last of some words: `bash complete.bash SCRIPT WORD…`.
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=$((${#COMP_LINE})) COMPREPLY=()
read -r -a registered < <(complete -p "$1")
# complete … -F FUNCTION NAME
"${registered[-2]}" "$1" "${*: -1}" "${*: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
