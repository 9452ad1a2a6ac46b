# Prints the completions that zsh offers for the last of some words: `zsh -f complete.zsh SCRIPT WORD…`.
#
# Only a line editor completes. One runs on a terminal of its own, and ends with its first completion.
zmodload zsh/zpty
folder=$(mktemp -d)
trap 'rm -rf $folder' EXIT
cp $1 $folder/_pintle
cat >$folder/.zshrc <<'SETTINGS'
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -D -u
compadd() {
    # Calls that only fill arrays for functions of completion are passed on.
    if [[ ${@[1,(i)(-|--)]} == *-[a-zA-Z]#[OAD](| )* ]]; then builtin compadd "$@"; return; fi
    local -a found
    builtin compadd -A found "$@"
    print -rl -- $found >>$ZDOTDIR/found
    builtin compadd "$@"
}
complete-and-leave() { zle complete-word; exit }
zle -N complete-and-leave
bindkey '^I' complete-and-leave
SETTINGS
zpty terminal "ZDOTDIR=$folder exec zsh -d -i"
zpty -w -n terminal "${*[2,-1]}"$'\t'
while zpty -r terminal line; do :; done
[[ -e $folder/found ]] && grep . $folder/found
