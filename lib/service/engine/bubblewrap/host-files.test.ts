import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { dataDirProblem, privatePaths, publicEtc } from './host-files.ts'

const createTree = (modes: Record<string, number>) => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-host-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of Object.keys(modes)) {
    mkdirSync(join(folder, path.endsWith('/') ? path : dirname(path)), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(join(folder, path), '')
  }
  for (const [path, mode] of Object.entries(modes)) chmodSync(join(folder, path), mode)
  chmodSync(folder, 0o755)
  return folder
}

it('finds private files and folders, and tolerates a missing folder', async () => {
  const files = (path: string) => ({ [`${path}/read`]: 0o644, [`${path}/secret`]: 0o640 })
  const folder = createTree({
    ...{ ...files('open'), ...files('unentered'), ...files('unlisted') },
    ...{ 'open/': 0o755, 'open/closed/': 0o700, 'unentered/': 0o754, 'unlisted/': 0o751 },
  })
  symlinkSync('secret', join(folder, 'open/link'))
  expect((await privatePaths([join(folder, 'missing'), folder])).sort()).toEqual(
    ['open/closed', 'open/secret', 'unentered', 'unlisted'].map((path) => join(folder, path)),
  )
})

it('shows only listed, world-readable files of /etc', () => {
  const etc = createTree({
    ...{ 'ssl/private/': 0o755, 'ssl/certs/': 0o755, 'ssh/ssh_config.d/': 0o755, 'ssh/': 0o700, 'ssl/': 0o755 },
    ...{ hosts: 0o644, gitconfig: 0o640, gshadow: 0o644 },
  })
  symlinkSync('/usr/share/zoneinfo/UTC', join(etc, 'localtime'))
  const shown = publicEtc(etc)
  expect(shown).toEqual(expect.arrayContaining(['/etc/hosts', '/etc/ssl/certs', '/etc/localtime']))
  expect(shown.join(' ')).not.toMatch(/gitconfig|shadow|private|ssh/)
})

it.each(['/', '/usr', '/opt', '/var', '/usr/../usr', '/bin', '/var/lib/dpkg'])('rejects the data folder %s', (path) => {
  expect(dataDirProblem(path)).toMatch(/^The data folder .* contains .*; choose a dedicated folder$/)
})

it.each(['/usr/src/devdeck', '/opt/devdeck', '/var/lib/devdeck', '/tmp', '/root/.devdeck'])(
  'accepts the data folder %s',
  (path) => {
    expect(dataDirProblem(path)).toBeUndefined()
  },
)
