import { createHash } from 'node:crypto'
import { quote } from '#lib/service/kit/quoting.ts'

/**
 * The bash script that runs one command of a named shell: it restores the state that the shell's last command saved
 * (directory, variables, functions, aliases, options, umask), runs the command in that same bash, and saves the state on
 * exit. So each command is a process group of its own with its own exit status. A command that sets an EXIT trap
 * replaces the trap that saves; the state is then saved before that trap runs. One group holds the command and what
 * follows, since after a command that is cut short, as `echo $(`, bash misreads its next line or aborts.
 */
export const shellScript = (command: string, stateFile: string): string => {
  const file = quote(stateFile)
  return `trap ${quote(saveState(file))} EXIT
${rememberGiven}
shopt -s expand_aliases
[ -f ${file} ] && . ${file} 2>/dev/null
{ eval ${quote(command)}
{ __devdeck_status=$?; [[ $(trap -p EXIT) == *__devdeck_options=* ]] || ${saveState(file)}
(exit "$__devdeck_status"); } 2>/dev/null; }`
}

/** A file name for a shell of any name. */
export const shellFileName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32)

// Variables that every command of the devbox gets are not saved: secrets among them must not be in a file.
const rememberGiven = `declare -A __devdeck_given
while read -r __devdeck_name; do __devdeck_given[$__devdeck_name]=\${!__devdeck_name@A}; done < <(compgen -e)`

// Written beside and renamed, so that a shell killed in between keeps its former state. Variables that bash makes
// itself are skipped: setting them again would fail. Shell options stand first, since functions may be written in them;
// `set` options last, since errexit or nounset would act on the lines before; a substitution leaves errexit out. Neither
// PATH nor an alias of the shell's may keep the file from its place. The group hides what xtrace prints of it.
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
