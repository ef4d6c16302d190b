import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What programs look up in /etc that is the same for every user: names, accounts, certificates, defaults of tools. A list
 * of what is seen, and not of what is hidden: a mask on a single file comes off when the machine replaces that file.
 * /etc/passwd and /etc/group are written for each devbox, and its name and its name server are its own.
 */
const publicNames = [
  ...['nsswitch.conf', 'hosts', 'host.conf', 'gai.conf', 'networks', 'protocols', 'services', 'rpc'],
  ...[
    'ethertypes',
    'netconfig',
    'krb5.conf',
    'ssl/certs',
    'ssl/openssl.cnf',
    'ca-certificates',
    'ca-certificates.conf',
  ],
  ...['pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'pki/ca-trust/extracted', 'crypto-policies'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'localtime', 'timezone', 'locale.alias'],
  ...['locale.conf', 'default/locale', 'os-release', 'debian_version', 'lsb-release', 'redhat-release', 'issue'],
  ...['profile', 'profile.d', 'bash.bashrc', 'bashrc', 'bash_completion', 'bash_completion.d', 'zsh', 'zshrc'],
  ...['inputrc', 'terminfo', 'shells', 'skel', 'login.defs', 'mime.types', 'magic', 'magic.mime', 'xattr.conf', 'mtab'],
  ...['manpath.config', 'man_db.conf', 'groff', 'papersize', 'vim', 'vimrc', 'nanorc', 'screenrc', 'tmux.conf'],
  ...['ssh/ssh_config', 'ssh/ssh_config.d', 'ssh/ssh_known_hosts', 'gitconfig', 'wgetrc', 'npmrc', 'pip.conf'],
  ...['perl', 'python3', 'python3.9', 'python3.10', 'python3.11', 'python3.12', 'python3.13', 'gdb', 'debuginfod'],
  ...['java-11-openjdk', 'java-17-openjdk', 'java-21-openjdk', 'java-25-openjdk', '.java', 'maven', 'fonts', 'glvnd'],
  ...['dpkg', 'ImageMagick-6', 'ImageMagick-7', 'texmf', 'R', 'xml', 'sgml', 'mke2fs.conf'],
]

/** What a system with users of its own needs beside: how they are made, and how one becomes another. */
const namesOfUsers = ['pam.d', 'pam.conf', 'security/limits.conf', 'default/useradd', 'adduser.conf', 'deluser.conf']

/** What of /etc the machine's own system shows. */
export const publicEtcPaths = (): string[] => publicNames.map((name) => join('/etc', name)).filter(existsSync)

/** Those in this machine's that every user may read. */
export const publicNamesForUsers = (): string[] =>
  [...publicNames, ...namesOfUsers].filter((name) => existsSync(join('/etc', name)) && isPublic('/etc', name))

/** Arguments of bwrap that make an /etc of what is public in this machine's. */
export const publicEtc = (etc = '/etc'): string[] => [
  ...['--tmpfs', '/etc', '--symlink', '/proc/sys/kernel/hostname', '/etc/hostname'],
  ...publicNames.flatMap((name) => entry(etc, name)),
]

const entry = (etc: string, name: string): string[] => {
  const path = join(etc, name)
  const target = join('/etc', name)
  if (!existsSync(path) || !isPublic(etc, name)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), target] : ['--ro-bind', path, target]
}

/** Whether everybody on this machine may read it, and enter the folders of /etc above it. */
const isPublic = (etc: string, name: string): boolean => {
  const allows = (path: string, needed: number) => (statSync(path).mode & needed) === needed
  const canEnter = (folder: string): boolean =>
    folder === '.' || (allows(join(etc, folder), 0o001) && canEnter(dirname(folder)))
  const path = join(etc, name)
  return canEnter(dirname(name)) && allows(path, statSync(path).isDirectory() ? 0o005 : 0o004)
}
