import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LogFeed } from '#components/devboxes/log/log-feed.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { deleteFiles, extentOf, extentWords, listFolder, makeFolder, renameFile, sizeOf } from './file-commands.ts'
import { readContent, readStart, saveText } from './file-content.ts'
import { within } from './file-path.ts'
import { maxListed } from './folder-listing.ts'

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
const list = (path: string) => listFolder(id, path, service.client)
const names = async (path: string) => (await list(path)).entries.map(({ name }) => name)

describe('a folder', () => {
  const hostile = ['-rf', ' lead', "it's", 'new\nline', 'end\n', '$(id)', '*', '~', 'ü😀', 'a\udcff\udcfeb', '\\']

  it('is listed, changed and emptied whatever its files are called', async () => {
    await sh(
      `mkdir -p hostile && cd hostile && touch -- -rf ' lead' "it's" $'new\\nline' $'end\\n' '$(id)' '*' '~' ü😀 $'a\\xff\\xfeb' '\\'`,
    )
    expect((await names('hostile')).sort()).toEqual([...hostile].sort())
    const { folder } = await list('~/hostile')
    for (const name of hostile) {
      await renameFile(id, within(folder, name), 'renamed', service.client)
      expect(await names(folder)).toContain('renamed')
      await deleteFiles(id, [within(folder, 'renamed')], service.client)
      expect(await names(folder)).not.toContain(name)
    }
    expect(await list(folder)).toEqual({ folder, entries: [], total: 0 })
    await makeFolder(id, within(folder, 'a\udcff'), service.client)
    expect((await list(within(folder, 'a\udcff'))).total).toBe(0)
  })

  it('is read by commands that the log of the devbox knows from those of people', async () => {
    await sh('mkdir -p marked')
    await list('marked')
    await sizeOf(id, 'marked', service.client)
    await extentOf(id, ['marked'], service.client)
    const log = new LogFeed(async ({ onItems }) => {
      onItems((await service.client.logs.list({ params: { id } })).logs, '')
    })
    await log.follow(new AbortController().signal)
    const { records } = log.getSnapshot()
    const commands = records.filter(({ cmd }) => cmd?.includes('marked'))
    expect(commands.map(({ isReadByFiles }) => isReadByFiles)).toEqual([false, true, true, true])
    // With what they wrote and how they ended.
    const listing = records.filter(({ cmd_id }) => cmd_id === commands[1]?.cmd_id)
    expect(listing.length).toBeGreaterThan(2)
    expect(listing.every((each) => each.isReadByFiles)).toBe(true)
  })

  it('tells type, size, time and permissions, and where links lead', async () => {
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

  it('of very many files tells how many it does not list', async () => {
    await sh(`mkdir many && cd many && seq 1 ${maxListed + 5} | xargs touch && mkdir last`)
    const { entries, total } = await list('many')
    expect([entries.length, total, entries[0]?.name]).toEqual([maxListed, maxListed + 6, 'last'])
  })

  it('that is not there, or is none, is refused in words', async () => {
    await sh('touch plain')
    await expect(list('/none')).rejects.toThrow(/^No such file or directory$/)
    await expect(list('plain')).rejects.toThrow(/^Not a directory$/)
  })
})

it('never renames over something, a broken link included', async () => {
  await sh('mkdir over; cd over; echo a >a; echo b >b; ln -s none c')
  const { folder } = await list('over')
  for (const name of ['b', 'c'])
    await expect(renameFile(id, within(folder, 'a'), name, service.client)).rejects.toThrow('of that name already')
  expect(await sh('cat over/a over/b; readlink over/c')).toBe('a\nb\nnone\n')
})

it('counts what would be deleted, and follows no link', async () => {
  await sh('mkdir -p counted/x/y outside; touch counted/x/1 counted/x/y/2 outside/3; ln -s ../outside counted/link')
  const { folder } = await list('counted')
  const extent = await extentOf(id, [within(folder, 'x'), within(folder, 'link')], service.client)
  expect(extent).toEqual({ files: 3, folders: 2, isMore: false })
  expect(extentWords(extent)).toBe('3 files and 2 folders')
  await deleteFiles(id, [within(folder, 'x'), within(folder, 'link')], service.client)
  expect(await sh('ls counted outside')).toBe('counted:\n\noutside:\n3\n')
})

describe('what is in a file', () => {
  const read = (path: string) => readContent(id, path, { api: service.client })

  it('is read from its start, with the size of all of it', async () => {
    await sh('head -c 3000000 /dev/zero | tr "\\0" a >long')
    const start = await readStart(id, 'long', 1000, { api: service.client })
    expect([start.bytes.length, start.sizeBytes]).toEqual([1000, 3_000_000])
    expect(await read('long')).toMatchObject({
      kind: 'text',
      isWhole: false,
      shownBytes: 524_288,
      sizeBytes: 3_000_000,
    })
    expect(await sizeOf(id, 'long', service.client)).toBe(3_000_000)
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

  it('is text, an image or neither, whatever its name says', async () => {
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

  it('is written over only when it is what was read', async () => {
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
