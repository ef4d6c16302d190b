import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { LocalSpec } from '../local/launch.ts'
import { hasDedicatedUsers, isRoot } from './users.ts'

export const programFolders = ['/usr', '/opt', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Host folders under a devbox's own system; the rest comes from its base. */
export const machineFolders = [...programFolders, '/var/lib/dpkg']

export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

// Recomputed at each start because modes change. Without a dedicated user only these masks hide private files.
export const masksFor = async ({ dataDir, system }: Pick<LocalSpec, 'dataDir' | 'system'>): Promise<string[]> => {
  const runsAsService = !hasDedicatedUsers() && (isRoot || system !== undefined)
  const seen = [...programFolders, ...(system ? [] : publicEtcPaths())]
  return [
    ...new Set([
      ...maskOf(dataDir, system ? machineFolders : programFolders),
      ...(runsAsService ? await privatePaths(seen) : []),
    ]),
  ]
}

const maskOf = (dataDir: string, seen: readonly string[]): string[] => {
  const path = realPath(dataDir)
  if (!seen.some((folder) => isBelow(path, realPath(folder)))) return []
  // A dedicated user can't traverse a private parent to mount below it, so mask the parent.
  return [parentsOf(path).find((parent) => (statSync(parent).mode & 0o001) === 0) ?? path]
}

export const dataDirProblem = (dataDir: string): string | undefined => {
  const path = realPath(dataDir)
  const seen = machineFolders.find((folder) => isBelow(realPath(folder), path))
  return seen && `The data folder ${dataDir} contains ${seen}, which devboxes can see; choose a dedicated folder`
}

const parentsOf = (path: string): string[] => {
  const parent = dirname(path)
  return parent === path ? [] : [...parentsOf(parent), parent]
}

const realPath = (path: string): string =>
  existsSync(path) || path === dirname(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path))

export const privatePaths = async (folders: readonly string[]): Promise<string[]> => {
  const isPrivate = ['(', '!', '-perm', '-004', '-o', '-type', 'd', '!', '-perm', '-001', ')']
  const isAccessible = ['(', '-readable', '-o', '-executable', ')']
  const found = await promisify(execFile)(
    '/usr/bin/find',
    [...folders, '!', '-type', 'l', ...isPrivate, '-prune', ...isAccessible, '-print0'],
    { maxBuffer: 2 ** 26 },
  ).catch((error: { code?: unknown; stdout: string }) => {
    if (error.code === 1) return error
    throw error
  })
  return found.stdout.split('\0').filter(Boolean)
}

// Public parts of /etc: names, accounts, certificates, tool defaults. An allowlist, because a mask on a single file is
// lost when the host replaces the file. passwd, group, hostname and resolv.conf are created per devbox.
const publicNames = [
  ...['nsswitch.conf', 'hosts', 'host.conf', 'gai.conf', 'networks', 'protocols', 'services', 'rpc'],
  ...['ethertypes', 'netconfig', 'krb5.conf', 'ssl/certs', 'ssl/openssl.cnf', 'ca-certificates'],
  ...['pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'pki/ca-trust/extracted', 'crypto-policies'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'localtime', 'timezone', 'locale.alias'],
  ...['locale.conf', 'default/locale', 'os-release', 'debian_version', 'lsb-release', 'redhat-release', 'issue'],
  ...['profile', 'profile.d', 'bash.bashrc', 'bashrc', 'bash_completion', 'bash_completion.d', 'zsh', 'zshrc'],
  ...['inputrc', 'terminfo', 'shells', 'skel', 'login.defs', 'mime.types', 'magic', 'magic.mime', 'xattr.conf', 'mtab'],
  ...['manpath.config', 'man_db.conf', 'groff', 'papersize', 'vim', 'vimrc', 'nanorc', 'screenrc', 'tmux.conf'],
  ...['ssh/ssh_config', 'ssh/ssh_config.d', 'ssh/ssh_known_hosts', 'gitconfig', 'wgetrc', 'npmrc', 'pip.conf'],
  ...['perl', 'python3', 'python3.9', 'python3.10', 'python3.11', 'python3.12', 'python3.13', 'gdb', 'debuginfod'],
  ...['java-11-openjdk', 'java-17-openjdk', 'java-21-openjdk', 'java-25-openjdk', '.java', 'maven', 'fonts', 'glvnd'],
  ...['dpkg', 'ImageMagick-6', 'ImageMagick-7', 'texmf', 'R', 'xml', 'sgml', 'mke2fs.conf', 'ca-certificates.conf'],
]

const userToolNames = ['pam.d', 'pam.conf', 'security/limits.conf', 'default/useradd', 'adduser.conf', 'deluser.conf']

const publicEtcPaths = (): string[] => publicNames.map((name) => join('/etc', name)).filter(existsSync)

export const publicNamesForUsers = (): string[] =>
  [...publicNames, ...userToolNames].filter((name) => existsSync(join('/etc', name)) && isPublic('/etc', name))

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

const isPublic = (etc: string, name: string): boolean => {
  const allows = (path: string, needed: number) => (statSync(path).mode & needed) === needed
  const canEnter = (folder: string): boolean =>
    folder === '.' || (allows(join(etc, folder), 0o001) && canEnter(dirname(folder)))
  const path = join(etc, name)
  return canEnter(dirname(name)) && allows(path, statSync(path).isDirectory() ? 0o005 : 0o004)
}
