import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt } from '../scripts/source-hash.ts'

const root = join(import.meta.dirname, '..')

/** Builds once, because two products starting together would each build. */
export default () => {
  if (isBuilt(root)) return
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
}
