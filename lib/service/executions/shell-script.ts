import { createHash } from 'node:crypto'
import { quote } from '#lib/service/kit/quoting.ts'

/**
 * Builds the bash script that runs one command of a named shell. It restores the state saved by the shell's last
 * command (directory, variables, functions, aliases, options, umask), runs the command and saves the state on exit, so
 * each command has its own process group and exit status. If the command sets an EXIT trap, the state is saved before
 * that trap runs. One group holds everything, because after an incomplete command such as `echo $(` bash misreads the
 * next line.
 */
export const shellScript = (command: string, stateFile: string): string => {
  const file = quote(stateFile)
  return `trap ${quote(saveState(file))} EXIT
${recordGiven}
shopt -s expand_aliases
[ -f ${file} ] && . ${file} 2>/dev/null
{ eval ${quote(command)}
{ __devdeck_status=$?; [[ $(trap -p EXIT) == *__devdeck_options=* ]] || ${saveState(file)}
(exit "$__devdeck_status"); } 2>/dev/null; }`
}

export const shellFileName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32)

// Don't save variables that every command gets: secrets must not be written to a file.
const recordGiven = `declare -A __devdeck_given
while read -r __devdeck_name; do __devdeck_given[$__devdeck_name]=\${!__devdeck_name@A}; done < <(compgen -e)`

// Renamed into place, so a killed shell keeps its previous state. Skips variables that bash sets itself. `shopt`
// options come first, since functions may depend on them; `set` options last, since errexit and nounset would affect
// the lines before. The absolute path protects against PATH and aliases; the group hides xtrace output.
const saveState = (file: string) => `{
__devdeck_options=$(set +o)
[[ $- != *e* ]] || __devdeck_options+=$'\\nset -e'
set +eux
{
shopt -p
printf 'cd -- %q\\n' "$PWD"
mapfile -t __devdeck_names < <(compgen -v)
for __devdeck_name in "\${__devdeck_names[@]}"; do
case $__devdeck_name in BASH*|SHELLOPTS|EUID|PPID|UID|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|_|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH*|COMP_*|HISTCMD|__devdeck*) ;;
*) [[ \${!__devdeck_name@A} == "\${__devdeck_given[$__devdeck_name]-}" ]] || declare -p "$__devdeck_name" ;; esac
done
for __devdeck_name in "\${!__devdeck_given[@]}"; do [[ -v $__devdeck_name ]] || printf 'unset -v %s\\n' "$__devdeck_name"; done
declare -f
declare -xF
alias -p
umask -p
printf '%s\\n' "$__devdeck_options"
} > ${file}.new && /bin/mv -f ${file}.new ${file}
} 2>/dev/null`
