/** Prefix of a command to run as another user. Numeric users need not exist; without a group, the user's own apply. */
export const asUser = (user: string): readonly string[] => ['/bin/bash', '-c', becomeUser, 'devdeck', user]

const becomeUser = `user=$1 group= groups=--init-groups
[[ $user == *:* ]] && group=\${user#*:} user=\${user%%:*} groups=--clear-groups
IFS=: read -r name _ uid gid _ home _ < <(getent passwd -- "$user")
if [[ ! $uid ]]; then
  [[ $user =~ ^[0-9]+$ ]] || { echo "unable to find user $user: no matching entries in passwd file" >&2; exit 126; }
  uid=$user gid=0 home=/ name=$user groups=--clear-groups
fi
if [[ $group ]]; then
  IFS=: read -r _ _ gid _ < <(getent group -- "$group")
  [[ $gid ]] || gid=$group
  [[ $gid =~ ^[0-9]+$ ]] || { echo "unable to find group $group: no matching entries in group file" >&2; exit 126; }
fi
[[ $HOME && $HOME != /root ]] && home=$HOME
export HOME=$home USER=$name LOGNAME=$name
exec setpriv --reuid "$uid" --regid "$gid" "$groups" -- "\${@:2}"`
