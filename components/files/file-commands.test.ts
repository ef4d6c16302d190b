import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LogFeed } from '#components/devboxes/log/log-feed.ts'
import { type EntrySort, listFolderCommand, pageEntries } from '#lib/protocol/list-folder.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import {
  countContents,
  deleteFiles,
  fileSize,
  formatContents,
  listFolder,
  makeFolder,
  renameFile,
} from './file-commands.ts'
import { readContent, readStart, saveText } from './file-content.ts'
import { joinPath } from './file-path.ts'
import { parseListing } from './folder-listing.ts'

let service: TestService
let id: string
beforeAll(async () => {
  service = await startService()
  id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
})
afterAll(() => service.close())

const sh = async (command: string) => {
  const answer = await service.client.executions.executeSync({ params: { id }, body: { command } })
  expect(answer.stderr).toBe('')
  return answer.stdout
}
const list = (path: string) => listFolder(id, path, { api: service.client })
const names = async (path: string) => (await list(path)).entries.map(({ name }) => name)

describe('a folder', () => {
  const hostile = ['-rf', ' lead', "it's", 'new\nline', 'end\n', '$(id)', '*', '~', 'ü😀', 'a\udcff\udcfeb', '\\']

  it('lists, renames and deletes files with any name', async () => {
    await sh(
      `mkdir -p hostile && cd hostile && touch -- -rf ' lead' "it's" $'new\\nline' $'end\\n' '$(id)' '*' '~' ü😀 $'a\\xff\\xfeb' '\\'`,
    )
    expect((await names('hostile')).sort()).toEqual([...hostile].sort())
    const { folder } = await list('~/hostile')
    for (const name of hostile) {
      await renameFile(id, joinPath(folder, name), 'renamed', service.client)
      expect(await names(folder)).toContain('renamed')
      await deleteFiles(id, [joinPath(folder, 'renamed')], service.client)
      expect(await names(folder)).not.toContain(name)
    }
    expect(await list(folder)).toEqual({ folder, entries: [], total: 0, isOnlyByName: false })
    await makeFolder(id, joinPath(folder, 'a\udcff'), service.client)
    expect((await list(joinPath(folder, 'a\udcff'))).total).toBe(0)
  })

  it('marks its commands in the devbox log', async () => {
    await sh('mkdir -p marked')
    await list('marked')
    await fileSize(id, 'marked', service.client)
    await countContents(id, ['marked'], service.client)
    const log = new LogFeed(async ({ onItems }) => {
      onItems((await service.client.logs.list({ params: { id } })).logs, '')
    })
    await log.follow(new AbortController().signal)
    const { records } = log.getSnapshot()
    const commands = records.filter(({ cmd }) => cmd?.includes('marked'))
    expect(commands.map(({ isFromFilesTab }) => isFromFilesTab)).toEqual([false, true, true, true])
    // Including their output and exit status.
    const listing = records.filter(({ cmd_id }) => cmd_id === commands[1]?.cmd_id)
    expect(listing.length).toBeGreaterThan(2)
    expect(listing.every((each) => each.isFromFilesTab)).toBe(true)
  })

  it('lists type, size, time, permissions and link targets', async () => {
    await sh(
      'mkdir -p kinds/sub; cd kinds; printf 12345 >five; chmod 600 five; touch -d @1700000000 five; ln -s sub to-sub; ln -s none broken; mkfifo pipe',
    )
    const { entries } = await list('kinds')
    expect(entries.map(({ name, type, target }) => [name, type, target?.type, target?.path])).toEqual([
      ['sub', 'd', undefined, undefined],
      ['to-sub', 'l', 'd', 'sub'],
      ['broken', 'l', 'N', 'none'],
      ['five', 'f', undefined, undefined],
      ['pipe', 'p', undefined, undefined],
    ])
    expect(entries[3]).toMatchObject({ sizeBytes: 5, changedMs: 1_700_000_000_000, mode: '600' })
  })

  it('is listed in parts, sorted as a whole', async () => {
    await sh(
      `mkdir many && cd many && seq 1 ${pageEntries + 5} | sed s/^/file/ | xargs touch && mkdir last && printf 123 >file7`,
    )
    const part = (offset: number, sort: EntrySort) => listFolder(id, 'many', { offset, sort, api: service.client })
    const first = await part(0, { column: 'size', descending: true })
    expect([first.entries.length, first.total]).toEqual([pageEntries, pageEntries + 6])
    expect(first.entries.slice(0, 3).map(({ name }) => name)).toEqual(['last', 'file7', 'file1'])
    const rest = await part(pageEntries, { column: 'name', descending: true })
    expect(rest.entries.map(({ name }) => name)).toEqual(
      ['file1', 'file10', 'file100', 'file1000', 'file1001', 'file1002'].reverse(),
    )
  })

  it('rejects a missing folder and a file with a plain message', async () => {
    await sh('touch plain')
    await expect(list('/none')).rejects.toThrow(/^No such file or directory$/)
    await expect(list('plain')).rejects.toThrow(/^Not a directory$/)
  })
})

it('never renames over an existing file or broken link', async () => {
  await sh('mkdir over; cd over; echo a >a; echo b >b; ln -s none c')
  const { folder } = await list('over')
  for (const name of ['b', 'c'])
    await expect(renameFile(id, joinPath(folder, 'a'), name, service.client)).rejects.toThrow('already exists')
  expect(await sh('cat over/a over/b; readlink over/c')).toBe('a\nb\nnone\n')
})

it('counts the files a delete would remove, without following links', async () => {
  await sh('mkdir -p counted/x/y outside; touch counted/x/1 counted/x/y/2 outside/3; ln -s ../outside counted/link')
  const { folder } = await list('counted')
  const counted = await countContents(id, [joinPath(folder, 'x'), joinPath(folder, 'link')], service.client)
  expect(counted).toEqual({ files: 3, folders: 2, isMore: false })
  expect(formatContents(counted)).toBe('3 files and 2 folders')
  await deleteFiles(id, [joinPath(folder, 'x'), joinPath(folder, 'link')], service.client)
  expect(await sh('ls counted outside')).toBe('counted:\n\noutside:\n3\n')
})

describe('file contents', () => {
  const read = (path: string) => readContent(id, path, { api: service.client })

  it('are read up to the limit, with the full size', async () => {
    await sh('head -c 3000000 /dev/zero | tr "\\0" a >long')
    const start = await readStart(id, 'long', 1000, { api: service.client })
    expect([start.bytes.length, start.sizeBytes]).toEqual([1000, 3_000_000])
    expect(await read('long')).toMatchObject({
      kind: 'text',
      isWhole: false,
      shownBytes: 524_288,
      sizeBytes: 3_000_000,
    })
    expect(await fileSize(id, 'long', service.client)).toBe(3_000_000)
    await sh('(printf "GIF89a"; head -c 600000 /dev/zero) >large.gif')
    expect(await read('large.gif')).toMatchObject({ kind: 'image', sizeBytes: 600_006 })
    await sh('printf "" >none')
    expect(await read('none')).toEqual({
      kind: 'text',
      text: '',
      isWhole: true,
      isExact: true,
      shownBytes: 0,
      sizeBytes: 0,
    })
  })

  it('are detected as text or image whatever the name', async () => {
    await sh(
      `printf '\\xef\\xbb\\xbfhi' >bom; printf '<svg onload="alert(1)"/>' >x.png; printf 'GIF89a;' >x.txt; printf 'a\\0b' >nul; printf '\\xff' >latin`,
    )
    expect(await read('bom')).toMatchObject({ kind: 'text', text: '\ufeffhi' })
    expect(await read('x.png')).toMatchObject({ kind: 'text', text: '<svg onload="alert(1)"/>' })
    expect(await read('x.txt')).toEqual({
      kind: 'image',
      url: `data:image/gif;base64,${btoa('GIF89a;')}`,
      sizeBytes: 7,
    })
    expect([await read('nul'), await read('latin')]).toMatchObject([
      { kind: 'text', isExact: false },
      { kind: 'text', isExact: false },
    ])
  })

  it('are saved only if unchanged since they were read', async () => {
    await sh("printf 'one\\r\\n' >edited")
    const save = (base: string | null, text: string) => saveText(id, 'edited', { base, text }, service.client)
    expect(await save('one\r\n', 'two\r\n')).toEqual({ isSaved: true })
    expect(await save('one\r\n', 'three')).toEqual({ isSaved: false, theirs: 'two\r\n' })
    expect(await sh('cat edited')).toBe('two\r\n')
    await sh('rm edited')
    expect(await save('two\r\n', 'three')).toEqual({ isSaved: false, theirs: null })
    expect(await save(null, 'three')).toEqual({ isSaved: true })
    expect(await sh('cat edited')).toBe('three')
  })
})

it.skipIf(!existsSync('/usr/bin/busybox'))('lists a folder with the tools of BusyBox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-listing-'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const tool of ['sh', 'find', 'stat', 'readlink', 'base64', 'tail'])
    symlinkSync('/usr/bin/busybox', join(bin, tool))
  mkdirSync(join(folder, 'a/.sub'), { recursive: true })
  for (const name of ['-rf', "it's", 'new\nline', '$(id)', '*']) writeFileSync(join(folder, 'a', name), 'four')
  symlinkSync('.sub', join(folder, 'a/to-sub'))
  symlinkSync('none', join(folder, 'a/broken'))
  const run = (offset: number) => {
    const command = listFolderCommand(join(folder, 'a'), { offset })
    const { stdout, stderr } = spawnSync(join(bin, 'sh'), ['-c', command], { env: { ...process.env, PATH: bin } })
    expect(String(stderr)).toBe('')
    return parseListing(String(stdout))
  }
  const { entries, total, isOnlyByName } = run(0)
  expect([total, isOnlyByName]).toEqual([8, true])
  expect(entries.map(({ name, type, target }) => [name, type, target?.type, target?.path])).toEqual([
    ['to-sub', 'l', 'd', '.sub'],
    ['.sub', 'd', undefined, undefined],
    ['$(id)', 'f', undefined, undefined],
    ['*', 'f', undefined, undefined],
    ['-rf', 'f', undefined, undefined],
    ['broken', 'l', 'N', 'none'],
    ["it's", 'f', undefined, undefined],
    ['new\nline', 'f', undefined, undefined],
  ])
  expect(entries[3]).toMatchObject({ sizeBytes: 4, mode: statSync(join(folder, 'a/*')).mode.toString(8).slice(-3) })
  expect(run(6).entries.map(({ name }) => name)).toEqual(["it's", 'new\nline'])
  rmSync(folder, { recursive: true })
})
