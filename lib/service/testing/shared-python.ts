import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'

/**
 * Puts a Python with pytest below /opt, which trials see, first in PATH. Undefined if there is no
 * pytest to copy.
 */
export const sharePython = (): { prefix: string; remove: () => void } | undefined => {
  const packages = ['pytest', '_pytest', 'pluggy', 'iniconfig', 'packaging', 'pygments', 'py']
  let prefix = ''
  const remove = () => rmSync(prefix, { recursive: true, force: true })
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    prefix = mkdtempSync('/opt/devdeck-python-')
    const folder = dirname(dirname(run('python3', '-c', `import ${packages.join(', ')}; print(pytest.__file__)`)))
    run('/usr/bin/python3', '-m', 'venv', '--without-pip', '--system-site-packages', prefix)
    const site = run(join(prefix, 'bin/python3'), '-c', "import sysconfig; print(sysconfig.get_path('purelib'))")
    for (const name of readdirSync(folder))
      if (packages.some((each) => name === each || name === `${each}.py` || name.startsWith(`${each}-`)))
        cpSync(join(folder, name), join(site, name), { recursive: true })
    const program = join(prefix, 'bin/pytest')
    writeFileSync(program, `#!${prefix}/bin/python3\nimport pytest, sys\nsys.exit(pytest.console_main())\n`)
    chmodSync(program, 0o755)
    chmodSync(prefix, 0o755)
    vi.stubEnv('PATH', `${prefix}/bin:${run('/bin/sh', '-c', 'echo "$PATH"')}`)
    return { prefix, remove }
  } catch {
    remove()
    return undefined
  }
}
