import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourceHash } from '../scripts/source-hash.ts'

const root = join(import.meta.dirname, '..')

/** Each product would build the console by itself if it had to, and two of them start at once. */
export default () => {
  const stamp = join(root, '.next/BUILD_ID')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root)) return
  execFileSync('npx', ['--no-install', 'next', 'build'], { cwd: root, stdio: 'inherit' })
}
