import type { ImageInspectInfo } from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type EngineApi, ifMissing } from './engine-api.ts'
import { firstFile } from './tar.ts'

/** What the service needs to know about an image's files. */
export interface ImageFacts {
  passwd: string
  group: string
  hasBash: boolean
  hasPerl: boolean
  /** Top-level folders that are symlinks. */
  links: ReadonlySet<string>
}

export const perlPath = '/usr/bin/perl'
const writtenFolders = ['/etc', '/home', '/run', '/tmp']

/** Reads facts from a container that was just created from an image, once per image. */
export const createFactReader = (api: EngineApi) => {
  const known = new Map<string, Promise<ImageFacts>>()
  const read = (imageId: string, containerId: string): Promise<ImageFacts> => {
    // The other container may have been removed by now.
    const found = known.get(imageId)?.catch(() => read(imageId, containerId))
    if (found) return found
    const reading = readFacts(api, containerId)
    known.set(imageId, reading)
    reading.catch(() => known.delete(imageId))
    return reading
  }
  return read
}

const readFacts = async (api: EngineApi, containerId: string): Promise<ImageFacts> => {
  const archive = `/containers/${containerId}/archive`
  const stat = (path: string) => api.statInside(archive, path)
  const read = async (link: string) => {
    const path = (await stat(link))?.linkTarget || link
    const content = await api.json<Buffer>('GET', archive, { query: { path } }).catch(ifMissing)
    return (content && firstFile(content)) ?? ''
  }
  const [hasShell, hasBash, hasPerl, links, passwd, group] = await Promise.all([
    stat('/bin/sh'),
    stat('/bin/bash'),
    stat(perlPath),
    Promise.all(writtenFolders.map(async (path) => ((await stat(path))?.linkTarget ? path : []))),
    read('/etc/passwd'),
    read('/etc/group'),
  ])
  if (!hasShell)
    throw new ServiceError('invalid_argument', 'The image has no /bin/sh, which devboxes require', {
      shouldRetry: false,
    })
  return {
    passwd,
    group,
    hasBash: hasBash !== undefined,
    hasPerl: hasPerl !== undefined,
    links: new Set(links.flat()),
  }
}

interface ImageUser {
  uid: number
  gid: number
  home: string
}

/** Resolves an image's USER, such as `node`, `1000` or `app:app`. */
export const userOfImage = ({ passwd }: ImageFacts, user: string): ImageUser => {
  const [name = ''] = user.split(':')
  const wanted = name === '' ? 'root' : name
  for (const line of passwd.split('\n')) {
    const [login, , uid, gid, , home] = line.split(':')
    if (login === wanted || uid === wanted) return { uid: Number(uid), gid: Number(gid), home: home || '/' }
  }
  const uid = wanted === 'root' ? 0 : Number(wanted)
  return { uid: Number.isInteger(uid) ? uid : 0, gid: 0, home: uid === 0 ? '/root' : '/' }
}

export const environmentOf = ({
  Config,
}: {
  Config?: Pick<ImageInspectInfo['Config'], 'Env'>
}): Record<string, string> =>
  Object.fromEntries(
    (Config?.Env ?? []).map((line) => {
      const cut = line.indexOf('=')
      return [line.slice(0, cut), line.slice(cut + 1)]
    }),
  )
