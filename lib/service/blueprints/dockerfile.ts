import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { Blueprint } from '#lib/contract/blueprints.ts'
import { quote } from '#lib/service/kit/quoting.ts'

export interface BuildFiles {
  dockerfile: string
  /** Contents of mounted files by path in the build context. */
  files: ReadonlyMap<string, string>
}

const home = '/home/user'

/** Folder in the build context for what the service adds. */
export const addedFolder = '.devdeck'
export const dockerfilePath = `${addedFolder}/Dockerfile`

export const tagOf = (id: string): string => `devdeck-blueprint:${id}`

/**
 * The Dockerfile of a blueprint. Setup commands run as root with the home directory of `user`, who owns its files in
 * the end.
 */
export const buildFilesOf = (
  { dockerfile, file_mounts, code_mounts, system_setup_commands }: Blueprint['parameters'],
  baseImage: string | undefined,
): BuildFiles => {
  const mounts = Object.entries(file_mounts ?? {})
  const commands = [...(code_mounts ?? []).flatMap(cloneCommands), ...(system_setup_commands ?? [])]
  const own = dockerfile?.trimEnd() ?? ''
  const setup = [
    'USER root',
    `ENV HOME=${home}`,
    `WORKDIR ${home}`,
    ...mounts.map(([path], i) => copyInstruction(`${addedFolder}/file-${i}`, mountPath(path))),
    ...commands.map(runInstruction),
    `RUN chown -R 1000:1000 ${home}`,
  ]
  const lines = [
    ...(hasFrom(own) ? [] : [`FROM ${baseImage ?? hostImage()}`]),
    ...(own === '' ? [] : [own]),
    ...(mounts.length + commands.length > 0 ? setup : []),
  ]
  return {
    dockerfile: `${lines.join('\n')}\n`,
    files: new Map(mounts.map(([, content], i) => [`${addedFolder}/file-${i}`, content])),
  }
}

export const hasFrom = (dockerfile: string): boolean => /^\s*FROM\s/im.test(dockerfile)

export const mountPath = (path: string): string => posix.resolve(home, path.replace(/^~(?=\/|$)/, home))

/** Public repositories only: a token would remain in the image. */
const cloneCommands = ({ repo_owner, repo_name, git_ref, install_command }: CodeMount): string[] => {
  const folder = quote(`${home}/${repo_name}`)
  return [
    `git clone ${quote(`https://github.com/${repo_owner}/${repo_name}.git`)} ${folder}`,
    ...(git_ref ? [`git -C ${folder} checkout ${quote(git_ref)}`] : []),
    ...(install_command ? [`cd ${folder}\n${install_command}`] : []),
  ]
}
type CodeMount = NonNullable<Blueprint['parameters']['code_mounts']>[number]

const copyInstruction = (from: string, to: string): string =>
  /^[\w./-]+$/.test(to) ? `COPY ${from} ${to}` : `COPY ${JSON.stringify([from, to])}`

/** The exec form where Docker would read more than a shell command. */
const runInstruction = (command: string): string =>
  /\n|<<|\\\s*$|^\s*--|^\s*$/.test(command) ? `RUN ${JSON.stringify(['/bin/sh', '-c', command])}` : `RUN ${command}`

/** The image that is closest to this host's system. */
const hostImage = (): string => {
  const release = readFileSync('/etc/os-release', 'utf8')
  const field = (name: string) => new RegExp(`^${name}="?([^"\\n]*)`, 'm').exec(release)?.[1] ?? ''
  const id = field('ID')
  return ['debian', 'ubuntu', 'fedora', 'alpine'].includes(id)
    ? `${id}:${field('VERSION_ID') || 'latest'}`
    : 'debian:12'
}
