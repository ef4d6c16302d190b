import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a production build is made of. The local service is not: it runs from source, in a process of its own. */
const inputs = [
  'app',
  'components',
  'lib',
  'public',
  'next.config.mjs',
  'postcss.config.mjs',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
]
const left = /(^|\/)(lib\/service|[^/]+\.test\.tsx?|openapi\.json)$/

/**
 * A name for the sources as they are now: it changes with any content a build is made of, and with nothing else. Next
 * takes it as the build id, so that a build tells which sources it was made from.
 */
export const sourceHash = (root: string): string => {
  const hash = createHash('sha256')
  for (const path of inputs.flatMap((input) => filesOf(root, input))) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 20)
}

const filesOf = (root: string, path: string): string[] => {
  if (left.test(path) || !existsSync(join(root, path))) return []
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(root, `${path}/${name}`))
}

/** Whether the console was built, and from these very sources: a build is named by their hash. */
export const isBuilt = (root: string): boolean => {
  const stamp = join(root, '.next/BUILD_ID')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root)
}
