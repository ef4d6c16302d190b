import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { defaultBashrc } from '../default-bashrc.ts'
import type { EngineApi } from './engine-api.ts'
import type { ImageFacts } from './image-facts.ts'
import { type TarEntry, tar } from './tar.ts'

export const runFolder = '/run/devdeck'
export const runCommandPath = '/run/devdeck-command'
export const holdPath = '/run/devdeck-hold'
export const bashrcPath = '/run/devdeck-bashrc'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

interface Owner {
  uid: number
  gid: number
  home: string
}

/** Files of the service, empty at every start. */
export const serviceFiles = ({ links }: ImageFacts, { uid, gid }: Owner): TarEntry[] => [
  ...folder(links, '/run', 0o755),
  { path: runFolder, mode: 0o700, uid, gid },
  { path: runCommandPath, mode: 0o644, content: read('./run-command.sh') },
  { path: holdPath, mode: 0o644, content: read('./hold.pl') },
  { path: bashrcPath, mode: 0o644, content: read('../bashrc') },
]

/** The devbox's user and its home, where the image doesn't provide them. */
export const userFiles = (
  { passwd, group, links }: ImageFacts,
  name: string,
  { uid, gid, home }: Owner,
  hasBashrc: boolean,
): TarEntry[] => [
  ...folder(links, '/etc', 0o755),
  {
    path: '/etc/passwd',
    mode: 0o644,
    content: withLine(passwd, name, uid, `${name}:x:${uid}:${gid}::${home}:/bin/bash`),
  },
  { path: '/etc/group', mode: 0o644, content: withLine(group, name, gid, `${name}:x:${gid}:`) },
  ...folder(links, '/home', 0o755),
  { path: home, mode: 0o755, uid, gid },
  ...folder(links, '/tmp', 0o1777),
  ...(hasBashrc ? [] : [{ path: `${home}/.bashrc`, mode: 0o644, uid, gid, content: defaultBashrc }]),
]

// The engine would replace a symlink.
const folder = (links: ReadonlySet<string>, path: string, mode: number): TarEntry[] =>
  links.has(path) ? [] : [{ path, mode }]

const withLine = (file: string, name: string, id: number, line: string): string => {
  const others = file
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith(`${name}:`) && each.split(':')[2] !== String(id))
  return `${[...others, line].join('\n')}\n`
}

export const putFiles = (api: EngineApi, containerId: string, entries: readonly TarEntry[], signal?: AbortSignal) =>
  api.json('PUT', `/containers/${containerId}/archive`, { query: { path: '/' }, file: tar(entries), signal })

/** Copies a folder's entries into the container. */
export const putFolder = async (
  api: EngineApi,
  containerId: string,
  folder: string,
  { path, uid, gid }: { path: string; uid: number; gid: number },
  signal: AbortSignal,
): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  if (names.length === 0) return
  const owner = [`--owner=:${uid}`, `--group=:${gid}`]
  const packer = spawn('tar', ['-C', folder, ...owner, '-cf', '-', '--', ...names], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(packer, 'close')
  await api.json('PUT', `/containers/${containerId}/archive`, { query: { path }, file: packer.stdout, signal })
  const [code] = await ended
  if (code !== 0) throw new Error(`tar exited with ${code}`)
}
