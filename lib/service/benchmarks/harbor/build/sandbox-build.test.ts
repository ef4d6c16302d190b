import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { putBuildPrograms, withBuildPrograms } from './sandbox-build.ts'

const machine = { hasSystem: false, hasUsers: false }
let folder: string
/** Stand-ins for system programs. Each reports that it ran. */
let real: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-build-')))
  real = join(folder, 'real')
  mkdirSync(real)
  for (const name of ['pip', 'npm', 'go', 'dpkg', 'chown', 'apt-get', 'yarn', 'rpm'])
    writeFileSync(join(real, name), `#!/bin/sh\necho ${name} "$@"\n`, { mode: 0o755 })
  const { script, env } = putBuildPrograms(join(folder, 'build'), machine)
  execFileSync('/bin/bash', ['-c', script], {
    env: { ...env, PATH: '/usr/bin:/bin', NODE_ENV: 'test' },
    stdio: 'ignore',
  })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = (script: string, more: Record<string, string> = {}, shell = '/bin/sh') => {
  const build = join(folder, 'build')
  const given = { PATH: `${real}:/usr/bin:/bin`, ...more }
  const env = { ...withBuildPrograms(build, 5, given, machine), NODE_ENV: 'test' as const }
  const { status, stdout } = spawnSync(shell, ['-c', script], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const skipped = readFileSync(join(build, 'skipped'), 'utf8').split('\n').slice(0, -1)
  return { status, stdout, skipped: skipped.map((line) => line.replace(/^Dockerfile line 5: skipped: /, '')) }
}

it.each([
  [
    'apt-get update && apt-get install -y --no-install-recommends jq && rm -rf /var/lib/apt/lists/* && echo y',
    ['apt-get update', 'apt-get install -y --no-install-recommends jq'],
  ],
  ['if ! command -v no-such; then apt-get install -y jq; fi; echo y', ['apt-get install -y jq']],
  ['for p in a b; do pip install $p; done; echo y', ['pip install a', 'pip install b']],
  ['(apt-get update; echo y) | cat', ['apt-get update']],
  [
    'DEBIAN_FRONTEND=noninteractive apt-get install -y "a && b" >/dev/null 2>&1 || exit 1; echo y',
    ['apt-get install -y a && b'],
  ],
  ['yes | sudo -E -u root A=b apt-get install x && echo y', ['apt-get install x']],
  ['env A=b pip3 install x && echo y', ['pip3 install x']],
  ['bash -c "apt-get update && echo y"', ['apt-get update']],
  ['useradd -m joe && chown -R joe /app && echo y', ['useradd -m joe', 'chown -R joe /app']],
  ['dpkg -i a.deb && rpm -Uvh a.rpm && yarn && echo y', ['dpkg -i a.deb', 'rpm -Uvh a.rpm', 'yarn']],
  ["pip install 'a\nb' && echo y", ['pip install a b']],
  ['x=$(apt-get --version) && echo "y$x"', ['apt-get --version']],
])('skips and records the installs of %s', (script, skipped) => {
  expect(run(script)).toEqual({ status: 0, stdout: 'y\n', skipped })
})

it.each([
  ['pip --version', 'pip --version\n'],
  ['npm run build', 'npm run build\n'],
  ['go build ./...', 'go build ./...\n'],
  ['dpkg --print-architecture', 'dpkg --print-architecture\n'],
  ['rpm -q bash', 'rpm -q bash\n'],
  ['echo "apt-get install x"', 'apt-get install x\n'],
  ['cat <<E\napt-get install y\nE', 'apt-get install y\n'],
])('runs %s', (script, stdout) => {
  expect(run(script)).toEqual({ status: 0, stdout, skipped: [] })
})

it('fails like a shell if the program is missing', () => {
  expect(run('poetry build')).toEqual({ status: 127, stdout: '', skipped: [] })
})

it.each(['python3 -m pip install -q x', 'python3 -m venv --without-pip v && v/bin/python -m pip install -q x'])(
  'skips the install of %s',
  (script) => {
    expect(run(script)).toEqual({ status: 0, stdout: '', skipped: ['pip install -q x'] })
  },
)

it('skips installs of a pip called by its path, and runs its other commands', () => {
  const pip = join(folder, 'pip')
  const own = join(folder, 'own')
  mkdirSync(join(own, 'pip'), { recursive: true })
  writeFileSync(join(own, 'pip/__init__.py'), 'version = 7\n')
  writeFileSync(pip, 'import pip\nprint(pip.version)\n')
  const more = { PYTHONPATH: own }
  expect(run(`python3 ${pip} install x && python3 ${pip} list`, more)).toEqual({
    status: 0,
    stdout: '7\n',
    skipped: ['pip install x'],
  })
})

it('creates a folder at / that exists', () => {
  expect(run('mkdir /tmp && mkdir -m 700 a && mkdir a 2>/dev/null; echo $?').stdout).toBe('1\n')
})
