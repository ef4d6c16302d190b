import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { hasDedicatedUsers } from '#lib/service/engine/bubblewrap/users.ts'
import { untilEnded } from '#lib/service/testing/jobs.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { writeTask } from '#lib/service/testing/trials.ts'

const nobody = 65534
const asNobody = ['/usr/bin/setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']

/** Reason to skip: not root, or another user cannot read the repository or create a devbox. */
const problem = ((): string | undefined => {
  if (!hasDedicatedUsers()) return 'the tests do not run as root'
  try {
    const doctor = [...asNobody, process.execPath, join(import.meta.dirname, '../main.ts'), 'doctor']
    const [file = '', ...args] = [...doctor, '--data-dir', '/nonexistent/devdeck']
    const output = execFileSync(file, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin:/bin', NODE_ENV: 'test' },
    })
    return /trials +a writable system/.test(output) ? undefined : output
  } catch (error) {
    return (error as Error).message
  }
})()

const leftOut = problem === undefined ? '' : `, left out: ${problem.trim().split('\n')[0]}`

describe.skipIf(problem !== undefined)(`a service that is not root${leftOut}`, () => {
  let folder: string
  let unlisted: string
  let service: ReturnType<typeof runCommand>
  beforeAll(async () => {
    // Visible to trials, with files of its own user and of root.
    folder = mkdtempSync('/opt/devdeck-rootless-')
    unlisted = `${folder}-unlisted`
    chmodSync(folder, 0o755)
    mkdirSync(join(folder, 'data'), { mode: 0o700 })
    chownSync(join(folder, 'data'), nobody, nobody)
    for (const [name, uid] of [
      ['own', nobody],
      ['root', 0],
    ] as const) {
      writeFileSync(join(folder, name), 'secret\n', { mode: 0o600 })
      chownSync(join(folder, name), uid, uid)
    }
    // Directly in /opt, beside the data folder's parent.
    mkdirSync(unlisted)
    writeFileSync(join(unlisted, 'file'), 'secret\n')
    chmodSync(unlisted, 0o711)
    const args = ['--port', '0', '--data-dir', join(folder, 'data'), '--datasets', join(folder, 'tasks')]
    const reward = (test: string) => `if ${test}; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n`
    writeTask(join(folder, 'tasks/tool'), {
      'environment/Dockerfile': `FROM debian
WORKDIR /app
RUN echo "#!/bin/sh\\necho tool" >/usr/local/bin/tool && chmod 755 /usr/local/bin/tool && rm /usr/bin/tac && rm -r /usr/share/doc
RUN mkdir /srv/data && echo 'site 8000/tcp' >>/etc/services && date +%s%N >/opt/built
`,
      'solution/solve.sh': 'tool >out; id -un >>out; cp /opt/built /logs/artifacts/; rm -r /srv/data\n',
      'tests/test.sh': reward(
        '[ "$(cat out; tail -n 1 /etc/services)" = "$(printf "tool\\nroot\\nsite 8000/tcp")" ] && [ ! -e /usr/bin/tac ] && [ ! -e /srv/data ]',
      ),
    })
    writeTask(join(folder, 'tasks/users'), {
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\nRUN useradd -M joe && touch a && chown joe a\nUSER joe\n',
      'solution/solve.sh': '',
      'tests/test.sh': reward('[ "$(id -un)" = joe ]'),
    })
    const forbidden = [
      ...[
        'mount -t tmpfs none /mnt',
        'umount /proc',
        'unshare -U true',
        'chmod 600 /dev/null',
        'mknod /tmp/disk b 8 0',
      ],
      ...['echo x >/proc/sys/kernel/core_pattern', 'echo 100 >/proc/sys/user/max_user_namespaces'],
      ...[
        `ls -A ${folder}/data | grep -q .`,
        `touch ${folder}/data/x`,
        `grep -q . ${folder}/own`,
        `cat ${folder}/root`,
        `cat ${unlisted}/file`,
      ],
      ...['cat /proc/kcore | grep -q .', 'touch /usr/bin/env', 'hostname other-name'],
    ]
    writeTask(join(folder, 'tasks/rights'), {
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\n',
      'solution/solve.sh': '',
      'tests/test.sh': `echo 1 >/logs/verifier/reward.txt
${forbidden.map((each) => `if ${each} 2>/dev/null; then echo 0 >/logs/verifier/reward.txt; fi`).join('\n')}
`,
    })
    service = runCommand(args, {}, asNobody)
    await service.ready
  })
  afterAll(async () => {
    service.child.kill('SIGTERM')
    await service.ended
    for (const path of [folder, unlisted]) rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  })

  it('gives each trial its own system without root, and warns of tasks that need users', async () => {
    const client = createClient({
      baseUrl: await service.ready,
      headers: { authorization: `Bearer ${readFileSync(join(folder, 'data/api-key'), 'utf8').trim()}` },
    })
    const inline_yaml =
      'n_attempts: 2\nn_concurrent_trials: 2\ntasks:\n  - path: tool\n  - path: users\n  - path: rights\n'
    const { id } = await client.benchmarkJobs.create({
      body: { name: 'rootless', spec: { type: 'harbor', inline_yaml } },
    })
    const { benchmark_outcomes } = await untilEnded(client, id)
    const outcomes = benchmark_outcomes?.[0]?.scenario_outcomes ?? []
    const of = (task: string) => outcomes.filter(({ scenario_name }) => scenario_name === task)
    expect(of('tool').map(({ score, environment_differs }) => [score, environment_differs ?? false])).toEqual([
      [1, false],
      [1, false],
    ])
    expect(of('rights').map(({ score }) => score)).toEqual([1, 1])
    const files = readdirSync(join(folder, 'data'), { recursive: true, encoding: 'utf8' })
    const built = files.filter((file) => file.endsWith('artifacts/built'))
    expect(new Set(built.map((file) => readFileSync(join(folder, 'data', file), 'utf8'))).size).toBe(1)
    expect(built.length).toBe(2)
    expect(of('users').map(({ score, environment_differs }) => [score, environment_differs])).toEqual([
      [0, true],
      [0, true],
    ])
    expect(of('users')[0]?.warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Dockerfile line 4: skipped: USER joe is not supported/),
        expect.stringMatching(/^Dockerfile line 3: skipped: chown joe a \(exit code 1: .*Invalid argument\)$/),
      ]),
    )
  })
})
