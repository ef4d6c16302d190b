import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Inputs of a production build. The local service runs from source. */
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

/** Hash of the build inputs. It is the build id, which identifies the sources of a build. */
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

/** Whether the production build is up to date. */
export const isBuilt = (root: string): boolean => {
  const stamp = join(root, '.next/BUILD_ID')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root)
}
