# Completion of s3haul command lines for bash.

_s3haul() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(s3haul __complete bash "$2" "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2> /dev/null)
    # More follows a folder, a bucket and the = of a flag.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}

# Where nothing is found, files are completed as for any other command.
complete -o bashdefault -o default -F _s3haul s3haul
