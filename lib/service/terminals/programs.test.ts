import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

const program = (path: string) => it.skipIf(!existsSync(path))

describeUnderEachIsolation('programs in a terminal under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    // tmux would create its socket in the host's /tmp.
    const body = { environment_variables: { TMUX_TMPDIR: isolation === 'none' ? '.' : '/tmp', PS1: '> ' } }
    id = (await service.client.devboxes.createAndAwaitRunning({ body })).id
  })
  afterAll(() => service.close())

  let count = 0
  const open = async () => {
    const terminal = await openTerminal(service, `${id}-${++count}`, { cols: 100, rows: 30 })
    terminal.type('cd; PS1="> "; echo rea""dy\r')
    await terminal.shows(/ready\r\n/)
    return terminal
  }

  it('know the name of their controlling terminal', async () => {
    const { type, shows, socket } = await open()
    type('echo "name: $(tty)."; ps -o tty= -p $$\r')
    const [, name] = await shows(/name: (\/dev\/pts\/\d+)\.\r\n(?:.*\n)*pts\/\d+\r\n/)
    type(`echo "by na""me" >${name}; exec </dev/tty; tty; stty size\r`)
    await shows(/by name\r\n\/dev\/tty\r\n30 100\r\n/)
    socket.close()
  })

  it('read hidden input', async () => {
    const { type, shows, text, socket } = await open()
    type('(read -rsp "Pass""word: " word </dev/tty >/dev/tty; echo; echo "$word" | rev)\r')
    await shows(/Password: /)
    type('secret\r')
    await shows(/\r\nterces\r\n/)
    expect(text()).not.toContain('secret')
    socket.close()
  })

  program('/usr/bin/tmux')('tmux attaches, and detaches', async () => {
    const { type, shows, socket } = await open()
    type('tmux -f /dev/null new -d -s one "tty; echo in""side; exec cat"; tmux attach -t one\r')
    await shows(/\/dev\/pts\/\d+.*inside/s)
    await shows(/\[one\]/)
    type('typed\r')
    await shows(/typed.*typed/s)
    await service.client.executions.executeSync({ params: { id }, body: { command: 'tmux detach-client -s one' } })
    await shows(/\[detached \(from session one\)\]/)
    type('tmux kill-server; echo go""ne\r')
    await shows(/gone\r\n/)
    socket.close()
  })

  program('/usr/bin/script')('script gives another one', async () => {
    const { type, shows, socket } = await open()
    type('tty; script -qc tty /dev/null\r')
    const [, outer, inner] = await shows(/(\/dev\/pts\/\d+)\r\n.*?(\/dev\/pts\/\d+)\r\n/s)
    expect(inner).not.toBe(outer)
    socket.close()
  })

  program('/usr/bin/ssh-keygen')('ssh-keygen asks for a passphrase', async () => {
    const { type, shows, text, socket } = await open()
    type('rm -f key; ssh-keygen -q -t ed25519 -f key\r')
    await shows(/Enter passphrase.*: /)
    type('correct horse\r')
    await shows(/Enter same passphrase again: /)
    type('correct horse\r')
    await shows(/> $/)
    type('ssh-keygen -y -P "" -f key; ssh-keygen -y -f key\r')
    await shows(/incorrect passphrase.*Enter passphrase/s)
    type('correct horse\r')
    await shows(/ssh-ed25519 /)
    expect(text()).not.toContain('horse')
    socket.close()
  })

  program('/usr/bin/less')('less pages, and leaves the screen as it was', async () => {
    const { type, shows, socket } = await open()
    type('seq 1000 | less\r')
    await shows(/\[\?1049h.*\n29\r?\n/s)
    type('q')
    await shows(/\[\?1049l/)
    socket.close()
  })

  program('/usr/bin/vim')('vim edits a file', async () => {
    const { type, shows, socket } = await open()
    type('vim -u NONE new.txt\r')
    await shows(/\[\?1049h/)
    type('ihello\x1b:wq\r')
    await shows(/\[\?1049l/)
    type('cat new.txt | tr a-z A-Z\r')
    await shows(/HELLO\r\n/)
    socket.close()
  })
})
