import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const run = (cwd: string, command: string, ...args: string[]) => execFileSync(command, args, { cwd, stdio: 'ignore' })

/** For `npm install tiny` from a static server at `origin`. */
const publishNpm = (folder: string, origin: string) => {
  const about = { name: 'tiny', version: '1.0.0' }
  mkdirSync(join(folder, 'npm/package'), { recursive: true })
  writeFileSync(join(folder, 'npm/package/package.json'), JSON.stringify(about))
  writeFileSync(join(folder, 'npm/package/index.js'), 'module.exports = "from npm"')
  run(join(folder, 'npm'), 'tar', '-czf', 'tiny-1.0.0.tgz', 'package')
  const hash = createHash('sha512').update(readFileSync(join(folder, 'npm/tiny-1.0.0.tgz')))
  const dist = { tarball: `${origin}/npm/tiny-1.0.0.tgz`, integrity: `sha512-${hash.digest('base64')}` }
  const versions = { '1.0.0': { ...about, dist } }
  writeFileSync(join(folder, 'tiny'), JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }))
}

const wheelName = 'tiny-1.0.0-py3-none-any.whl'
const wheel = `
import zipfile
with zipfile.ZipFile('${wheelName}', 'w') as file:
    about = 'tiny-1.0.0.dist-info/'
    file.writestr('tiny.py', 'word = "from pip"\\n')
    file.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0.0\\n')
    file.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    file.writestr(about + 'RECORD', ''.join(each + ',,\\n' for each in file.namelist()))
`

/** For `pip install tiny` from the index `/simple`. */
const publishPip = (folder: string) => {
  const index = join(folder, 'simple/tiny')
  mkdirSync(index, { recursive: true })
  run(index, '/usr/bin/python3', '-c', wheel)
  writeFileSync(join(index, 'index.html'), `<a href="${wheelName}">${wheelName}</a>`)
}

/** For `git clone` of `/tiny.git`. */
const publishGit = (folder: string) => {
  const work = join(folder, 'git')
  mkdirSync(work)
  writeFileSync(join(work, 'word'), 'from git')
  run(work, 'git', 'init', '--quiet')
  run(work, 'git', 'add', 'word')
  run(work, 'git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'm')
  run(folder, 'git', 'clone', '--quiet', '--bare', 'git', 'tiny.git')
  run(join(folder, 'tiny.git'), 'git', 'update-server-info')
}

export const publish = { npm: publishNpm, pip: publishPip, git: publishGit }
