import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join, posix, relative, sep } from 'node:path'
import { matcherOf } from '../names.ts'
import { SandboxBuildFailedError } from './dockerfile.ts'

export interface Source {
  path: string
  name: string
  isFolder: boolean
  only?: string[]
}

/** Throws a SandboxBuildFailedError if nothing is found, and for links that leave the context. */
export const findSources = async (context: string, patterns: readonly string[]): Promise<Source[]> => {
  const found: Source[] = []
  const isIgnored = await readDockerignore(context)
  for (const pattern of patterns) {
    const segments = segmentsOf(pattern)
    if (segments.includes('..')) throw new SandboxBuildFailedError(`COPY ${pattern}: outside the build context`)
    let paths = [context]
    for (const segment of segments) paths = (await Promise.all(paths.map((path) => entriesOf(path, segment)))).flat()
    if (paths.length === 0) throw new SandboxBuildFailedError(`COPY ${pattern}: no such file in environment/`)
    let copied = 0
    for (const path of paths) {
      const real = await realpath(path).catch(() => '')
      if (real !== context && !real.startsWith(context + sep))
        throw new SandboxBuildFailedError(`COPY ${relative(context, path)}: outside the build context`)
      const isFolder = (await lstat(real)).isDirectory()
      const only = isFolder && isIgnored ? await includedNames(path, relative(context, path), isIgnored) : undefined
      if (path !== context && (only ?? []).length === 0 && isIgnored?.(relative(context, path))) continue
      copied++
      found.push({ path: real, name: basename(path), isFolder, ...(only && { only }) })
    }
    if (copied === 0) throw new SandboxBuildFailedError(`COPY ${pattern}: excluded by .dockerignore`)
  }
  return found
}

const includedNames = async (folder: string, place: string, isIgnored: IsIgnored): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true })
  const included = names.filter((name) => !isIgnored(join(place, name)))
  const parents = included.flatMap((name) => {
    const segments = name.split(sep)
    return segments.slice(1).map((_, i) => segments.slice(0, i + 1).join(sep))
  })
  return [...new Set([...parents, ...included])].sort()
}

const entriesOf = async (folder: string, segment: string): Promise<string[]> => {
  if (!/[*?[]/.test(segment)) {
    const path = join(folder, segment)
    return (await lstat(path).catch(() => undefined)) ? [path] : []
  }
  const names: string[] = await readdir(folder).catch(() => [])
  // Go negates a set with ^, Python with !.
  return names
    .filter(matcherOf(segment.replaceAll('[^', '[!')))
    .sort()
    .map((name) => join(folder, name))
}

type IsIgnored = (path: string) => boolean

/** A file named after the Dockerfile takes precedence. */
export const readDockerignore = async (context: string, dockerfile = 'Dockerfile'): Promise<IsIgnored | undefined> => {
  const file = [`${dockerfile}.dockerignore`, '.dockerignore']
    .map((name) => join(context, name))
    .find((path) => existsSync(path))
  return file === undefined ? undefined : ignoredBy(await readFile(file, 'utf8'))
}

/** The last line that matches a path or one of its parents decides; `!` includes it again. */
export const ignoredBy = (text: string): IsIgnored => {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .map((line) => {
      const [, mark = '', pattern = ''] = /^(!?)\s*(.*)$/.exec(line.trim()) ?? []
      return { isExcluded: mark === '', pattern: patternOf(segmentsOf(posix.normalize(pattern))) }
    })
  return (path) => {
    const segments = segmentsOf(path)
    const paths = segments.map((_, i) => segments.slice(0, i + 1).join('/'))
    return rules.findLast(({ pattern }) => paths.some((each) => pattern.test(each)))?.isExcluded ?? false
  }
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '' && segment !== '.')

/** `*` and `?` match within one segment, `**` any number of segments. */
const patternOf = (segments: readonly string[]): RegExp => {
  const source = segments.map((segment) => (segment === '**' ? '**' : segmentSource(segment))).join('/')
  return new RegExp(`^${source.replaceAll('**/', '(?:.*/)?').replace(/\*\*$/, '.*')}$`, 's')
}

const segmentSource = (segment: string): string =>
  segment
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replaceAll('?', '[^/]')
