import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecuteCommand } from '#lib/contract/executions.ts'
import { describeUnderEachIsolation, inContainer } from '#lib/service/testing/isolation.ts'
import { startService, statusOf, type TestService } from '#lib/service/testing/service.ts'

describeUnderEachIsolation('executions under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    id = await service.devbox()
  })
  afterAll(() => service.close())

  type Started = { execution_id: string }
  const run = (command: string, shell_name?: string) => service.run(id, command, shell_name)
  const start = (command: string, shell_name?: string, attach_stdin = false) =>
    service.client.executions.executeAsync({ params: { id }, body: { command, attach_stdin, shell_name } })
  const execute = (body: ExecuteCommand & { command_id?: string; optimistic_timeout?: number }, query = {}) =>
    service.client.executions.execute({ params: { id }, query, body })
  const paramsOf = ({ execution_id }: Started) => ({ devbox_id: id, execution_id })
  const get = (execution: Started, query = {}) => service.client.executions.get({ params: paramsOf(execution), query })
  const kill = (execution: Started, kill_process_group = false) =>
    service.client.executions.kill({ params: paramsOf(execution), body: { kill_process_group } })
  const completed = (execution: Started) =>
    service.client.executions.waitForStatus({ params: paramsOf(execution), body: { statuses: ['completed'] } })
  const stream = (execution: Started, offset = 0) =>
    service.client.executions.streamStdout({ params: paramsOf(execution), query: { offset } })
  const collect = async (execution: Started, offset = 0) => {
    let [text, end] = ['', offset]
    for await (const chunk of stream(execution, offset)) {
      text += chunk.output
      end = chunk.offset ?? end
    }
    return { text, end }
  }
  const firstOutput = async (execution: Started) => {
    for await (const chunk of stream(execution)) return chunk.output
    return ''
  }

  it('returns output and exit status, and marks execute_sync as deprecated', async () => {
    const response = await service.post(`/v1/devboxes/${id}/execute_sync`, {
      command: 'echo out; echo err >&2; exit 7',
    })
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(await response.json()).toEqual({
      devbox_id: id,
      stdout: 'out\n',
      stderr: 'err\n',
      exit_status: 7,
      shell_name: null,
      stdout_truncated: false,
      stderr_truncated: false,
    })
  })

  it('returns as much output from execute_sync as from the other executions, and marks it as truncated', async () => {
    const done = await run('head -c 3000000 /dev/zero | tr "\\0" x; echo short >&2')
    expect(done).toMatchObject({ stdout_truncated: true, stderr: 'short\n', stderr_truncated: false })
    expect(done.stdout).toBe('x'.repeat(1024 * 1024))
  })

  it('runs bash with real pipes and an empty stdin', async () => {
    expect(await run('echo {1..3} > /dev/stderr; cat; echo a | tee /dev/stdout')).toMatchObject({
      stdout: 'a\na\n',
      stderr: '1 2 3\n',
      exit_status: 0,
    })
  })

  it('runs a command longer than a process argument can be', async () => {
    for (const length of [200_000, 2_000_000])
      for (const shell of [undefined, 'long'])
        expect((await run(`: ${'x'.repeat(length)}\necho end`, shell)).stdout).toBe('end\n')
  })

  it('stores a long command without following links of the devbox, and removes the file', async () => {
    const target = join(service.dataDir, 'out-of-the-devbox')
    const command_id = '01990000-0000-7000-8000-00000000000f'
    await run(`for d in /run/devdeck ~/../run; do ln -s ${target} $d/script-${command_id}; done; true`)
    const command = `: ${'x'.repeat(200_000)}\necho end`
    const execution = await execute({ command, command_id })
    expect(execution.stdout).toBe('end\n')
    expect(existsSync(target)).toBe(false)
    const left = (await run('cd /run/devdeck 2>/dev/null || cd ~/../run; ls script-*')).stdout
    expect(left).toBe(`script-${command_id}\n`)
  })

  it('rejects stdin, an empty command and NUL', async () => {
    for (const body of [{ command: 'cat', attach_stdin: true }, { command: '' }, { command: 'a\0b' }])
      expect(await statusOf(service.client.executions.executeSync({ params: { id }, body }))).toBe(400)
  })

  it('returns an asynchronous command immediately, with output once completed', async () => {
    const execution = await start('echo hi; until [ -e ~/there ]; do sleep 0.02; done; echo there')
    expect(execution).toMatchObject({ devbox_id: id, status: 'running', stdout: null, stderr: null, exit_status: null })
    expect(execution.execution_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    await run('touch ~/there')
    expect(await completed(execution)).toMatchObject({
      stdout: 'hi\nthere\n',
      stderr: '',
      exit_status: 0,
      stdout_truncated: false,
    })
  })

  it('waits in execute until the end or a timeout, and runs a command_id once', async () => {
    const body = {
      command: 'echo x >> ~/once; sleep 100',
      command_id: '01990000-0000-7000-8000-000000000001',
      optimistic_timeout: 0.2,
    }
    expect((await execute(body)).status).toBe('running')
    const again = await execute({ ...body, optimistic_timeout: 0 })
    expect(again.execution_id).toBe(body.command_id)
    const written = async () => (await run('cat ~/once; true')).stdout
    await expect.poll(written).toBe('x\n')
    await kill(again)
    expect(await written()).toBe('x\n')
    expect((await execute({ command: 'echo quick' })).stdout).toBe('quick\n')
  })

  it('returns the last lines and reports truncation', async () => {
    const execution = await start('seq 10; echo e >&2')
    await completed(execution)
    const last = (last_n: number) => get(execution, { last_n })
    expect(await last(2)).toMatchObject({
      stdout: '9\n10\n',
      stdout_truncated: true,
      stderr: 'e\n',
      stderr_truncated: false,
    })
    expect(await last(10)).toMatchObject({ stdout_truncated: false })
    expect(await last(0)).toMatchObject({ stdout: '', stdout_truncated: true })
  })

  it('limits execute to 100 lines by default', async () => {
    const command = 'seq 101'
    const { stdout, stdout_truncated, execution_id } = await execute({ command })
    expect([stdout?.split('\n').at(0), stdout?.split('\n').length, stdout_truncated]).toEqual(['2', 101, true])
    expect(await execute({ command }, { last_n: 101 })).toMatchObject({ stdout_truncated: false })
    const all = await get({ execution_id })
    expect([all.stdout?.split('\n').at(0), all.stdout_truncated]).toEqual(['1', false])
  })

  describe('stdin', () => {
    const attach = (command: string, shell_name?: string) => start(command, shell_name, true)
    const send = async (execution: { execution_id: string }, body: { text?: string; signal?: 'EOF' | 'INTERRUPT' }) =>
      (await service.client.executions.sendStdIn({ params: paramsOf(execution), body })).success

    it('sends text and EOF', async () => {
      const execution = await attach('read -r first; echo "<$first>"; cat /dev/stdin; echo end')
      expect(await send(execution, { text: 'one é\n' })).toBe(true)
      expect(await firstOutput(execution)).toBe('<one é>\n')
      expect(await send(execution, { text: 'two\n' })).toBe(true)
      expect(await send(execution, { text: 'three', signal: 'EOF' })).toBe(true)
      expect(await completed(execution)).toMatchObject({ stdout: '<one é>\ntwo\nthreeend\n', exit_status: 0 })
    })

    it('interrupts a command, which may trap it', async () => {
      const execution = await attach('echo up; sleep 1000; echo not reached')
      await firstOutput(execution)
      expect(await send(execution, { signal: 'INTERRUPT' })).toBe(true)
      expect(await completed(execution)).toMatchObject({ stdout: 'up\n', exit_status: 130 })
      const trapping = await attach('trap "echo caught; exit 5" INT; echo up; while :; do sleep 0.05; done')
      await firstOutput(trapping)
      expect(await send(trapping, { signal: 'INTERRUPT' })).toBe(true)
      expect(await completed(trapping)).toMatchObject({ stdout: 'up\ncaught\n', exit_status: 5 })
    })

    it('sends megabytes in order with backpressure', async () => {
      const execution = await attach('sleep 0.2; sha256sum')
      const hash = createHash('sha256')
      for (let i = 0; i < 40; i++) {
        const text = `${i} `.repeat(50_000)
        hash.update(text)
        expect(await send(execution, { text })).toBe(true)
      }
      expect(await send(execution, { signal: 'EOF' })).toBe(true)
      expect((await completed(execution)).stdout).toContain(hash.digest('hex'))
    })

    it('rejects input without attach_stdin, and fails after EOF or completion', async () => {
      const without = await start('sleep 1000')
      for (const body of [{ text: 'a' }, { signal: 'EOF' as const }, { signal: 'INTERRUPT' as const }])
        expect(await statusOf(send(without, body))).toBe(400)
      await kill(without)
      expect(await send(without, { text: 'a' })).toBe(false)

      const execution = await attach('cat; echo ended; until [ -e ~/after-eof ]; do sleep 0.02; done')
      expect(await send(execution, { signal: 'EOF' })).toBe(true)
      expect(await firstOutput(execution)).toBe('ended\n')
      expect(await send(execution, { text: 'late' })).toBe(false)
      expect(await send(execution, { signal: 'EOF' })).toBe(false)
      await run('touch ~/after-eof')
      expect((await completed(execution)).exit_status).toBe(0)
      expect(await send(execution, { signal: 'INTERRUPT' })).toBe(false)
      expect(await statusOf(send({ execution_id: 'none' }, { text: 'a' }))).toBe(404)
    })
  })

  it('keeps directory, variables, functions, aliases and options in a named shell', async () => {
    await run(
      'mkdir -p ~/deep; cd ~/deep; export A="x y"; B=2; f() { echo "f $1"; }; alias q="echo aliased"; declare -A m=([k]=v); set -u',
      'main',
    )
    expect((await run(`pwd; echo "$A|$B|\${m[k]}"; f z; q; env | grep ^A=`, 'main')).stdout).toMatch(
      /\/deep\nx y\|2\|v\nf z\naliased\nA=x y\n$/,
    )
    expect((await run('exit 42', 'main')).exit_status).toBe(42)
    expect((await run('echo $undefined', 'main')).exit_status).not.toBe(0)
    expect(await run('echo $((1 + 1)); false', 'main')).toMatchObject({
      stdout: '2\n',
      exit_status: 1,
      shell_name: 'main',
    })
    expect((await run('pwd; echo $A.', 'other')).stdout).toMatch(/\/home(\/user)?\n\.\n$/)
    expect((await run('echo $A.')).stdout).toBe('.\n')
  })

  it('keeps a named shell after set -e and after a trap', async () => {
    await run('set -e', 'strict')
    expect(await run('false; echo not reached', 'strict')).toMatchObject({ stdout: '', exit_status: 1 })
    expect(await run('set +e; false; echo reached', 'strict')).toMatchObject({ stdout: 'reached\n', exit_status: 0 })
    expect(await run('trap "echo bye" EXIT; cd /usr; X=5; (exit 3)', 'trap')).toMatchObject({
      stdout: 'bye\n',
      exit_status: 3,
    })
    expect((await run('pwd; echo $X', 'trap')).stdout).toBe('/usr\n5\n')
  })

  it('keeps a named shell without PATH or USER and after a syntax error', async () => {
    await run('A=kept; export PATH=/nowhere; unset USER', 'bare')
    expect((await run('echo "$A|$PATH|$USER|"', 'bare')).stdout).toBe('kept|/nowhere||\n')
    // These syntax errors used to break the commands after them.
    for (const command of ['echo $(', 'echo "', '[[ a']) {
      const { exit_status, stderr } = await run(command, 'bare')
      expect([command, exit_status]).toEqual([command, 2])
      expect(stderr).not.toMatch(/devdeck|near unexpected token `}'/)
    }
    expect((await run('echo $A', 'bare')).stdout).toBe('kept\n')
  })

  it('kills or interrupts a command at any stage of its start', async () => {
    const ends = Array.from({ length: 12 }, async (_, i) => {
      const execution = await start('sleep 1000', undefined, true)
      const params = paramsOf(execution)
      // Immediately, during the start, or while running.
      for (let turn = 0; turn < (i % 8) * 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      if (i % 3 === 0) await service.client.executions.sendStdIn({ params, body: { signal: 'INTERRUPT' } })
      else await kill(execution, i % 3 === 1)
      return [(await completed(execution)).exit_status, i % 3 === 0 ? 130 : 137]
    })
    for (const [exitStatus, expected] of await Promise.all(ends)) expect(exitStatus).toBe(expected)
  })

  it('runs the commands of a named shell in order, also when a queued one is killed', async () => {
    const first = await start('echo go; while [ ! -e ~/release ]; do sleep 0.02; done; echo first >> ~/turns', 'turns')
    const second = await start('echo second >> ~/turns', 'turns')
    const third = await start('echo third >> ~/turns', 'turns')
    await kill(second)
    const fourth = await start('echo fourth >> ~/turns', 'turns')
    expect((await get(third)).status).toBe('queued')
    expect(fourth.status).toBe('queued')
    await run('touch ~/release')
    for (const execution of [first, third, fourth]) expect((await completed(execution)).exit_status).toBe(0)
    expect((await run('cat ~/turns')).stdout).toBe('first\nthird\nfourth\n')
  })

  it('kills bash but not its children by default', async () => {
    const execution = await start('sleep 987 & echo $!; wait')
    const child = (await firstOutput(execution)).trim()
    expect(await kill(execution)).toMatchObject({ status: 'completed', exit_status: 137 })
    expect((await run(`kill -0 ${child}`)).exit_status).toBe(0)
    await run(`kill ${child}`)
  })

  it('kills the process group on request', async () => {
    const execution = await start('bash -c "sleep 988 & echo \\$!; wait" & wait')
    const grandchild = (await firstOutput(execution)).trim()
    await kill(execution, true)
    await run(`until [[ ! -e /proc/${grandchild} || $(< /proc/${grandchild}/stat) == *') Z '* ]]; do sleep 0.01; done`)
  })

  it('does not change a completed command, and returns 404 for an unknown one', async () => {
    const execution = await start('true')
    await completed(execution)
    expect(await kill(execution, true)).toMatchObject({ status: 'completed', exit_status: 0 })
    expect(await statusOf(kill({ execution_id: 'none' }))).toBe(404)
    expect(await statusOf(get({ execution_id: 'none' }))).toBe(404)
    expect(await statusOf(collect({ execution_id: 'none' }))).toBe(404)
  })

  it('does not wait for background processes that hold the output', async () => {
    const { stdout, exit_status } = await run('sleep 1000 & echo $!')
    expect(exit_status).toBe(0)
    expect((await run(`kill ${stdout}`)).exit_status).toBe(0)
  })

  it('streams live and from any offset', async () => {
    const execution = await start('echo one; until [ -e ~/go ]; do sleep 0.01; done; echo two')
    expect(await firstOutput(execution)).toBe('one\n')
    await run('touch ~/go')
    await completed(execution)
    expect(await collect(execution)).toEqual({ text: 'one\ntwo\n', end: 8 })
    expect((await collect(execution, 4)).text).toBe('two\n')
    for (const end of [8, 9, 999_999_999_999_999]) expect((await collect(execution, end)).text).toBe('')
  })

  it('never splits a character, and replaces invalid UTF-8', async () => {
    const execution = await start(`printf '\\xf0\\x9f'; sleep 0.2; printf '\\x98\\x80|\\xff|\\xc3'`)
    expect(await collect(execution)).toEqual({ text: '😀|\ufffd|\ufffd', end: 8 })
    expect((await completed(execution)).stdout).toBe('😀|\ufffd|\ufffd')
    expect((await collect(execution, 1)).text).toBe('\ufffd\ufffd\ufffd|\ufffd|\ufffd')
  })

  it('streams 20 MB byte for byte', async () => {
    const execution = await start(
      'seq -f "%.0f é" 1 2200000 | head -c 20000000; seq -f "%.0f é" 1 2200000 | head -c 20000000 | sha256sum >&2',
    )
    let length = 0
    const hash = createHash('sha256')
    for await (const { output } of stream(execution)) {
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(64 * 1024)
      length += Buffer.byteLength(output)
      hash.update(output)
    }
    expect(length).toBe(20_000_000)
    const done = await completed(execution)
    expect(done.stderr).toContain(hash.digest('hex'))
    expect(done.stdout_truncated).toBe(true)
    expect(Buffer.byteLength(done.stdout ?? '')).toBeLessThanOrEqual(1024 * 1024)
  })

  it('returns 408 with x-should-retry when a wait times out', async () => {
    const execution = await start('sleep 100')
    const response = await service.post(`/v1/devboxes/${id}/executions/${execution.execution_id}/wait_for_status`, {
      statuses: ['completed'],
      timeout_seconds: 0.05,
    })
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([408, 'true'])
    await kill(execution)
  })

  // In containers they continue: see lib/service/restart.test.ts.
  it.skipIf(inContainer(isolation))(
    'completes interrupted commands and restarts devboxes after a restart',
    async () => {
      const execution = await start('echo before; sleep 1000')
      await firstOutput(execution)
      await run('echo kept > ~/kept')
      const crashed = await start('echo $$; sleep 1000')
      await firstOutput(crashed)
      await service.restart()
      await service.reach(id, 'running')
      expect(await get(execution)).toMatchObject({ status: 'completed', exit_status: 137, stdout: 'before\n' })
      expect((await run('cat ~/kept')).stdout).toBe('kept\n')
      const devbox = await service.client.devboxes.get({ params: { id } })
      expect(devbox.state_transitions.map(({ status }) => status).slice(-2)).toEqual(['initializing', 'running'])
    },
  )

  it('removes the disk of a devbox at shutdown but keeps its output', async () => {
    const execution = await start('echo last')
    await completed(execution)
    await service.client.devboxes.shutdown({ params: { id } })
    expect(existsSync(`${service.dataDir}/devboxes/${id}/home`)).toBe(false)
    expect(readdirSync(`${service.dataDir}/devboxes/${id}`)).toContain('executions')
    expect((await get(execution)).stdout).toBe('last\n')
  })
})
