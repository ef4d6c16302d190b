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
})
