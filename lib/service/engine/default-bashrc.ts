/** The `.bashrc` of a new home directory. */
export const defaultBashrc = String.raw`PS1='\[\e[1;32m\]user@$DEVDECK_DEVBOX_NAME\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]$ '
alias ls='ls --color=auto' grep='grep --color=auto'
`
