# Prints the completions that fish offers for the last of some words: `fish complete.fish SCRIPT WORD…`.
source $argv[1]
complete --do-complete "$argv[2..]" | string split --fields 1 \t
