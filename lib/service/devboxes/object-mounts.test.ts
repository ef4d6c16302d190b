import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ObjectContentType } from '#lib/contract/objects.ts'
import { unpackArchive } from '#lib/service/engine/local/disk-tools.ts'
import { describeInEachBox } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-mounts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let last = 0
const newFolder = () => {
  const path = join(folder, `${++last}`)
  mkdirSync(path)
  return path
}

/** Archives the files that `make` writes to a new folder. */
const tarOf = (make: (folder: string) => void, options: string[] = []): Buffer => {
  const source = newFolder()
  make(source)
  return execFileSync('tar', [...options, '-c', '-C', source, '-f', '-', '.'])
}
const tool = (source: string) => {
  mkdirSync(join(source, 'bin'))
  writeFileSync(join(source, 'bin', 'tool'), '#!/bin/sh\necho ran\n', { mode: 0o755 })
  symlinkSync('bin/tool', join(source, 'run'))
}
/** An archive of entries that tar would not create. */
const entries = (script: string): Buffer =>
  execFileSync('python3', [
    '-c',
    `import io, sys, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|')
def add(name, data=b'evil', **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items(): setattr(info, key, value)
    out.addfile(info, io.BytesIO(data))
${script}
out.close()`,
  ])

describeInEachBox('an object mount under isolation', (isolation) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation })
  })
  afterAll(() => service.close())

  const stored = async (content: Buffer | string, content_type: ObjectContentType) => {
    const { objects } = service.client
    const { id, upload_url } = await objects.create({ body: { name: 'mounted', content_type } })
    await fetch(upload_url ?? '', { method: 'PUT', body: new Uint8Array(Buffer.from(content)) })
    await objects.complete({ params: { id } })
    return id
  }
  const mount = (object_id: string, object_path: string) => ({ type: 'object_mount', object_id, object_path })
  const devbox = async (...mounts: object[]) => service.devbox({ mounts })
  const run = async (id: string, command: string) => (await service.run(id, command)).stdout
  const problemWith = async (content: Buffer, content_type: ObjectContentType = 'tar') =>
    service.client.devboxes.create({ body: { mounts: [mount(await stored(content, content_type), 'archive')] } }).then(
      () => 'none',
      ({ status, field, message }) => `${status} ${field} ${message.replace(/^.*?: /, '')}`,
    )

  it('writes files and unpacks archives', async () => {
    const id = await devbox(
      mount(await stored('text', 'text'), '/home/user/a/text'),
      mount(await stored(gzipSync('packed'), 'gzip'), '~/a/file.gz'),
      mount(await stored(tarOf(tool), 'tar'), '/home/user/tar/'),
      mount(await stored(gzipSync(tarOf(tool)), 'tgz'), '/tmp/tgz'),
    )
    expect(await run(id, 'cat a/text; echo; zcat a/file.gz; echo; tar/run; "$TMPDIR/tgz/bin/tool"')).toBe(
      'text\npacked\nran\nran\n',
    )
    expect(
      await run(
        id,
        'readlink tar/run; touch tar/new && stat -c %U tar/bin/tool tar/new | uniq | wc -l; stat -c %a tar/bin/tool',
      ),
    ).toBe('bin/tool\n1\n755\n')
    expect(readdirSync(join(service.dataDir, 'devboxes', id))).not.toContain('mounts')
  })

  it('unpacks into the home directory, under files of other mounts', async () => {
    const archive = await stored(tarOf(tool), 'tar')
    const file = { type: 'file_mount', target: 'bin/tool', content: 'replaced' }
    expect(await run(await devbox(file, mount(archive, '~')), 'cat bin/tool')).toBe('replaced')
  })

  it('keeps the copy when the object is deleted', async () => {
    const object = await stored('text', 'text')
    const id = await devbox(mount(object, 'text'))
    await service.client.objects.delete({ params: { id: object } })
    expect(await run(id, 'cat text')).toBe('text')
  })

  it('never writes outside the devbox', async () => {
    const outside = newFolder()
    const link = tarOf((source) => symlinkSync(outside, join(source, 'link')))
    const through = { type: 'file_mount', target: 'archive/link/file', content: 'inside' }
    const id = await devbox(mount(await stored(link, 'tar'), 'archive'), through)
    expect(await run(id, 'cat archive/link/file')).toBe('inside')

    expect(await problemWith(entries(`add('../../../../evil')`))).toMatch(/^400 mounts\[0\] .*cannot be unpacked/)
    const absolute = await devbox(mount(await stored(entries(`add('${outside}/evil')`), 'tar'), 'archive'))
    expect(await run(absolute, `cat archive${outside}/evil`)).toBe('evil')
    await problemWith(entries(`add('link', b'', type=b'2', linkname='${outside}'); add('link/evil')`))
    const hardLink = entries(`add('link', b'', type=b'1', linkname='${join(folder, 'secret')}')`)
    writeFileSync(join(folder, 'secret'), 'secret')
    expect(await problemWith(hardLink)).toMatch(/^400 .*cannot be unpacked/)
    expect(readdirSync(outside)).toEqual([])
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('secret')
  })

  it('rejects archives that are broken, too large or special', async () => {
    expect(await problemWith(Buffer.from('text'))).toMatch(/^400 .*does not look like a tar archive/)
    expect(await problemWith(tarOf(tool), 'tgz')).toMatch(/^400 .*not in gzip format/)
    const large = tarOf((source) => writeFileSync(join(source, 'file'), Buffer.alloc(5000)))
    expect(await problemWith(large.subarray(0, 4000))).toMatch(/^400 .*cannot be unpacked/)
    expect(await problemWith(entries(`add('pipe', b'', type=b'6')`))).toMatch(/^400 .*other than files/)
    const sparse = tarOf((source) => execFileSync('truncate', ['-s', '5G', join(source, 'file')]), ['-S'])
    expect(await problemWith(sparse)).toMatch(/^400 .*too large/)
  })

  it('requires a complete object of the account', async () => {
    const { client, otherClient } = service
    const { id: open } = await client.objects.create({ body: { name: 'open', content_type: 'text' } })
    const complete = await stored('text', 'text')
    for (const [caller, object_id] of [
      [client, open],
      [client, 'obj_missing'],
      [otherClient, complete],
    ] as const)
      await expect(caller.devboxes.create({ body: { mounts: [mount(object_id, 'file')] } })).rejects.toMatchObject({
        status: 400,
        field: 'mounts[0].object_id',
      })
    for (const path of ['/etc/x', '../x', 'a/', ''])
      await expect(client.devboxes.create({ body: { mounts: [mount(complete, path)] } })).rejects.toMatchObject({
        status: 400,
        field: 'mounts[0]',
      })
  })
})

it('stops unpacking at the limit', async () => {
  const file = join(folder, 'zeros.tgz')
  writeFileSync(file, gzipSync(tarOf((source) => writeFileSync(join(source, 'zeros'), Buffer.alloc(900_000)))))
  const to = newFolder()
  const unpack = { file, isCompressed: true, to, isolation: 'none' as const, marks: {} }
  expect((await unpackArchive({ ...unpack, maxBytes: 500_000 })).problem).toMatch(/too large/)
  expect((await unpackArchive({ ...unpack, maxBytes: 1_000_000 })).problem).toBeUndefined()
})
