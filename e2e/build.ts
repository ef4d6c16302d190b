import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt } from '../scripts/source-hash.ts'

const root = join(import.meta.dirname, '..')

/** Each product would build the console by itself if it had to, and two of them start at once. */
export default () => {
  if (isBuilt(root)) return
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
}
