import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeLocalSpec, outputOf } from '#lib/service/testing/boxes.ts'
import type { Layer } from '../box.ts'
import type { LocalBox } from '../local/local-box.ts'
import { bubblewrapProblem, startBubblewrap } from './bubblewrap.ts'
import { makeSystemBase, systemProblem } from './system.ts'
import { hasDedicatedUsers } from './users.ts'

const problem = (await bubblewrapProblem()) ?? (await systemProblem())
const hostFolders = [
  ...['/usr/src', '/usr/share', '/usr/lib', '/usr/local', '/usr/local/bin', '/usr/local/lib', '/opt', '/var/lib/dpkg'],
  ...['/root', '/home', '/srv', '/var/lib', '/etc', '/etc/profile.d', '/etc/ssl/certs', '/tmp'],
].filter(existsSync)
const secret = randomUUID()
const made: string[] = []

const placeFiles = (when: string, below = hostFolders) =>
  below.flatMap((place) => {
    const folder = mkdtempSync(join(place, `devdeck-${when}-`))
    made.push(folder)
    chmodSync(folder, 0o755)
    const at = (name: string) => join(folder, name)
    writeFileSync(at('open'), 'open\n', { mode: 0o644 })
    for (const [name, mode] of Object.entries({ own: 0o600, group: 0o640, program: 0o700, none: 0o000 })) {
      writeFileSync(at(name), `#!/bin/sh\necho ${secret}\n`)
      chmodSync(at(name), mode)
    }
    for (const [name, mode] of Object.entries({ closed: 0o700, unentered: 0o754 })) {
      mkdirSync(join(at(name), 'deep'), { recursive: true })
      for (const file of ['file', 'deep/file']) writeFileSync(join(at(name), file), `${secret}\n`, { mode: 0o644 })
      chmodSync(at(name), mode)
    }
    return [folder]
  })

const readAll = (...folders: string[][]) =>
  folders
    .flat()
    .map((folder) => `cat ${folder}/{open,own,group,program,none,{closed,unentered}/{,deep/}file}`)
    .join('\n')

/** Everything that root in a trial might try to read the contents. */
const attempts = (folder: string) => `cd ${folder} 2>/dev/null || exit 0
for f in own group program none closed/file closed/deep/file unentered/file unentered/deep/file; do
  cat $f; ./$f; chmod 777 $f; cat $f; chown 0:0 $f; cat $f; exec 3<>$f && cat <&3; cp -a $f /copy; cat /copy; ln $f /link; cat /link
  mv $f /moved; cat /moved; tar -cO $f; dd if=$f; setfacl -m u::rwx $f; su nobody -s /bin/sh -c "cat $f"
done
for d in closed unentered; do ls -R $d; chmod -R 777 $d; cp -a $d /tree; mv $d /other; grep -r . $d /tree /other; rm -rf $d; done
grep -r . .`

const reached = async (box: LocalBox, script: string) => {
  const output = await outputOf(box, `${script}\necho over`)
  expect(output).toMatch(/\nover$/)
  return output.split('\n').filter((line) => line.includes(secret))
}

describe.skipIf(problem !== undefined || !hasDedicatedUsers())(
  'root in a trial, on a host with root-only files',
  () => {
    afterAll(() => {
      for (const path of made) rmSync(path, { recursive: true, force: true })
    })

    const start = async (dataDir: string, devboxId: string, layers: Layer[] = []): Promise<LocalBox> => {
      const root = join(dataDir, devboxId, 'root')
      mkdirSync(join(root, 'logs'), { recursive: true })
      const base = await makeSystemBase(join(dataDir, 'environments'))
      const system = { base, layers, own: join(dataDir, devboxId, 'system') }
      return startBubblewrap(
        makeLocalSpec(dataDir, { devboxId, serviceId: 'root-only-test', root, system, network: 'none' }),
      )
    }

    it.each(['/usr/src', '/opt', '/root', '/var/lib'])('cannot read them with the data folder in %s', async (place) => {
      if (!existsSync(place)) mkdirSync(place)
      // Open to everyone except for the service's own files, as container images may be.
      const dataDir = mkdtempSync(join(place, 'devdeck-data-'))
      made.push(dataDir)
      chmodSync(dataDir, 0o755)
      writeFileSync(join(dataDir, 'operator-token'), `${secret}\n`, { mode: 0o600 })
      writeFileSync(join(dataDir, 'readable'), `${secret}\n`)
      chmodSync(join(dataDir, 'readable'), 0o644)
      const before = placeFiles('before')
      const one = await start(dataDir, 'one')
      const during = placeFiles('during')
      const layer = { folder: join(dataDir, 'one', 'system'), firstUid: one.uid ?? 0 }
      try {
        expect(await outputOf(one, `(cat ${dataDir}/{operator-token,readable}; ls -A ${dataDir}) 2>/dev/null`)).toBe('')
        expect(await reached(one, readAll(before, during))).toEqual([])
        const seen = [...before, ...during].filter((folder) => /^\/(usr|opt)/.test(folder))
        for (const folder of seen)
          expect(
            await outputOf(one, `cd ${folder} && cat open && echo mine >open && cat open && rm open && ls`),
          ).toMatch(/^open\nmine\n/)
        expect(seen.map((folder) => readFileSync(join(folder, 'open'), 'utf8'))).toEqual(seen.map(() => 'open\n'))
      } finally {
        await one.stop()
      }
      // A second trial on top of the first one's changes, as with a built environment.
      const two = await start(dataDir, 'two', [layer])
      try {
        expect(await reached(two, readAll(before, during))).toEqual([])
      } finally {
        await two.stop()
      }
    })

    it('cannot read them by changing, moving, linking or running them', async () => {
      const dataDir = mkdtempSync('/opt/devdeck-data-')
      made.push(dataDir)
      const below = ['/usr/src', '/opt', '/var/lib/dpkg']
      const before = placeFiles('before', below)
      const one = await start(dataDir, 'one')
      try {
        const folders = [...before, ...placeFiles('during', below)]
        expect(await reached(one, folders.map((folder) => `(${attempts(folder)})`).join('\n'))).toEqual([])
      } finally {
        await one.stop()
      }
    })

    it("can't read a file that became private after the start", async () => {
      const dataDir = mkdtempSync('/opt/devdeck-data-')
      made.push(dataDir)
      const [folder = ''] = placeFiles('turned')
      const one = await start(dataDir, 'one')
      try {
        expect(await outputOf(one, `cat ${folder}/open`)).toBe('open')
        writeFileSync(join(folder, 'open'), secret)
        chmodSync(join(folder, 'open'), 0o600)
        expect(await outputOf(one, `cat ${folder}/open; cp ${folder}/open /x; cat /x`)).not.toContain(secret)
      } finally {
        await one.stop()
      }
    })

    it('sees no home directory of the host', async () => {
      const dataDir = mkdtempSync('/tmp/devdeck-data-')
      made.push(dataDir)
      const one = await start(dataDir, 'one')
      try {
        expect(await outputOf(one, 'ls -A /root /home; grep -E " /(root|home)/" /proc/self/mounts')).toBe(
          '/home:\n\n/root:',
        )
      } finally {
        await one.stop()
      }
    })
  },
)
