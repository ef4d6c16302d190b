import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import { startOwnServer } from '#lib/service/testing/neighbor.ts'
import { sharePython } from '#lib/service/testing/shared-python.ts'
import { oracle, sandboxProblem, settings, startTrials, type Trials } from '#lib/service/testing/trials.ts'
import type { HarborAgent } from '../plan.ts'

const hasSystem = sandboxProblem === undefined && (await systemProblem()) === undefined

const reward = (value: string) => `echo ${value} >/logs/verifier/reward.txt\n`
/** Reward 1 if the command succeeds, else 0. */
const rewardIf = (command: string) => `if ${command}; then r=1; else r=0; fi; echo $r >/logs/verifier/reward.txt\n`
const toml = (more: string) => `version = "1.0"\n${more}`
const nop: Partial<HarborAgent> = { name: 'nop' }
const command = (script: string): Partial<HarborAgent> => ({ name: 'command', command: script })

const python = sharePython()
afterAll(() => python?.remove())

interface Row {
  files: Record<string, string>
  agentIs?: Partial<HarborAgent>
  state: 'COMPLETED' | 'FAILED' | 'TIMEOUT'
  score?: number
  type?: string
  message?: string
  rewards?: Record<string, number> | null
  /** Fails before a devbox is created. */
  hasNoDevbox?: boolean
}

const hello = {
  'solution/solve.sh': 'echo hello >hello.txt\n',
  'tests/test.sh': rewardIf('[ "$(cat /app/hello.txt)" = hello ]'),
}
const dockerfile = (text: string) => ({ 'environment/Dockerfile': `${text}WORKDIR /app\n` })
const steps = (more: string, last = '') =>
  toml(`${more}\n[[steps]]\nname = "one"\nmin_reward = 0.5\n[[steps]]\nname = "two"\n${last}`)

const rows: Record<string, Row> = {
  'files that a RUN writes to /opt and /var': {
    files: {
      'environment/Dockerfile':
        'FROM ubuntu\nRUN mkdir -p /opt/tool /var/log/app && echo tool >/opt/tool/a && echo log >/var/log/app/a\nWORKDIR /opt/tool\n',
      'solution/solve.sh': 'cat a /var/log/app/a >b\n',
      'tests/test.sh': rewardIf('[ "$(cat /opt/tool/b)" = "tool\nlog" ]').replace('\\n', '\n'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'folders at / that a RUN and a solution make': {
    files: {
      'environment/Dockerfile':
        'FROM ubuntu\nRUN mkdir /app && mkdir -p /tmp/a && cp -r /tmp/a /workspace\nWORKDIR /app\n',
      'solution/solve.sh': 'set -e\nmkdir /data\necho 1 >/data/reward\n',
      'tests/test.sh': '[ ! -e /workspace/a ] && cp /data/reward /logs/verifier/reward.txt\n',
    },
    state: 'COMPLETED',
    score: 1,
  },
  'folders an agent has locked': {
    files: {
      'solution/solve.sh': 'mkdir -p /tests/a /logs/verifier/b; touch /tests/a/f; chmod -R 0 /tests /logs/verifier\n',
      'tests/test.sh': '[ ! -e /tests/a ] && echo 0.5 >/logs/verifier/reward.txt\n',
    },
    state: 'COMPLETED',
    score: 0.5,
  },
  'a work directory of task.toml': {
    files: {
      'task.toml': toml('[environment]\nworkdir = "/srv/work"\n'),
      'solution/solve.sh': 'pwd >/srv/where\n',
      'tests/test.sh': rewardIf('[ "$(cat /srv/where) $(pwd)" = "/srv/work /srv/work" ]'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'the root directory without any WORKDIR': {
    files: {
      'environment/Dockerfile': 'FROM ubuntu\n',
      'solution/solve.sh': 'echo here >file\n',
      'tests/test.sh': rewardIf('[ -s /file ]'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'variables of the image, the environment, the solution and the verifier': {
    files: {
      'environment/Dockerfile': 'FROM ubuntu\nARG A=arg\nENV B=$A-b C="c d"\nWORKDIR /app\n',
      'task.toml': toml(`[environment.env]\nD = "d"\n[solution.env]\nE = "e"\n[verifier.env]\nF = "\${NONE:-f}"\n`),
      'solution/solve.sh': 'echo "$B $C $D $E $F" >out\n',
      'tests/test.sh': rewardIf('[ "$(cat out)/$B $C $D $E $F" = "arg-b c d d e /arg-b c d d  f" ]'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'a test.sh that fails after its reward': {
    files: { ...hello, 'tests/test.sh': `${reward('1')}exit 1\n` },
    state: 'COMPLETED',
    score: 1,
  },
  'a solve.sh that fails after its work': {
    files: { ...hello, 'solution/solve.sh': 'echo hello >hello.txt\nexit 3\n' },
    state: 'COMPLETED',
    score: 1,
  },
  'no solve.sh': {
    files: { 'tests/test.sh': reward('1') },
    state: 'FAILED',
    type: 'FileNotFoundError',
  },
  'an agent that sleeps past its time, verified all the same': {
    files: {
      'task.toml': toml('[agent]\ntimeout_sec = 1\n'),
      'solution/solve.sh': 'sleep infinity\n',
      'tests/test.sh': reward('1'),
    },
    state: 'COMPLETED',
    score: 1,
    type: 'AgentTimeoutError',
    message: 'Agent execution timed out after 1.0 seconds',
    rewards: { reward: 1 },
  },
  'a background child of the agent': {
    files: {
      ...hello,
      'solution/solve.sh':
        'nohup bash -c "while sleep 0.1; do date +%s%N >/app/beat; done" >/dev/null 2>&1 &\necho hello >hello.txt\n',
      'tests/test.sh':
        'for i in {1..100}; do [ -s /app/beat ] && echo 1 >/logs/verifier/reward.txt && exit; sleep 0.1; done',
    },
    state: 'COMPLETED',
    score: 1,
  },
  'tests that are not there for the agent': {
    files: {
      ...hello,
      'tests/answer': 'hello',
      'solution/solve.sh': '[ ! -e /tests ] && echo hello >hello.txt\n',
      'tests/test.sh': rewardIf('[ "$(cat hello.txt)" = "$(cat /tests/answer)" ] && [ -d /solution ]'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'a solution only the oracle has': {
    files: { ...hello, 'tests/test.sh': rewardIf('[ ! -e /solution ]') },
    agentIs: nop,
    state: 'COMPLETED',
    score: 1,
  },
  'no network': {
    files: {
      ...hello,
      'task.toml': toml('[environment]\nallow_internet = false\n'),
      'tests/test.sh': rewardIf('[ "$(wc -l </proc/net/route)" -le 1 ] && ! grep -v lo: /proc/net/dev | grep :'),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'a command agent': {
    files: {
      ...hello,
      'instruction.md': '<!-- canary 1234 -->\n\nwrite hello\n',
      'tests/test.sh': rewardIf('[ "$(cat hello.txt)" = "write hello|write hello|some/model|/app" ]'),
    },
    agentIs: {
      ...command(
        'echo "$HARBOR_INSTRUCTION|$(cat "$HARBOR_INSTRUCTION_FILE")|$HARBOR_MODEL_NAME|$PWD" | tr -d "\\n" >hello.txt',
      ),
      modelName: 'some/model',
    },
    state: 'COMPLETED',
    score: 1,
  },
  'a command agent that fails, having done its work': {
    files: hello,
    agentIs: command('echo hello >hello.txt; echo no more >&2; exit 7'),
    state: 'COMPLETED',
    score: 1,
    type: 'NonZeroAgentExitCodeError',
    message: "The agent's command failed with exit code 7: no more",
  },
  'two steps': {
    files: {
      'task.toml': steps(''),
      'steps/one/instruction.md': 'one',
      'steps/one/workdir/given': 'given',
      'steps/one/workdir/setup.sh': 'echo set up >set-up\n',
      'steps/one/solution/solve.sh': 'cat given set-up >one.txt\n',
      'steps/one/tests/test.sh': rewardIf('[ "$(cat one.txt)" = "givenset up" ]'),
      'steps/two/instruction.md': 'two',
      'steps/two/solution/solve.sh': 'cat one.txt >two.txt\n',
      'steps/two/tests/test.sh': rewardIf('[ -s two.txt ] && false'),
    },
    state: 'COMPLETED',
    score: 0.5,
  },
  'a step below its min_reward': {
    files: {
      'task.toml': steps(''),
      'steps/one/instruction.md': 'one',
      'steps/two/instruction.md': 'two',
      'steps/one/tests/test.sh': reward('0.25'),
      'steps/two/tests/test.sh': reward('1'),
    },
    agentIs: nop,
    state: 'COMPLETED',
    score: 0.25,
  },
  'a step without a reward': {
    files: {
      'task.toml': steps(''),
      'steps/one/instruction.md': 'one',
      'steps/two/instruction.md': 'two',
      'steps/one/tests/test.sh': reward('1'),
      'steps/two/tests/test.sh': 'true',
    },
    agentIs: nop,
    state: 'FAILED',
    type: 'RewardFileNotFoundError',
    rewards: { reward: 1 },
  },
  'a healthcheck that never succeeds': {
    files: {
      ...hello,
      'task.toml': toml('[environment.healthcheck]\ncommand = "false"\ninterval_sec = 0.1\nretries = 2\n'),
    },
    state: 'FAILED',
    type: 'HealthcheckError',
  },
  'a healthcheck that succeeds in the end': {
    files: {
      ...hello,
      'task.toml': toml(
        '[environment.healthcheck]\ncommand = "echo >>n; [ $(wc -l <n) -gt 2 ]"\ninterval_sec = 0.1\nretries = 5\n',
      ),
    },
    state: 'COMPLETED',
    score: 1,
  },
  'a build that takes too long': {
    files: {
      ...hello,
      'environment/Dockerfile': 'FROM ubuntu\nRUN sleep infinity\n',
      'task.toml': toml('[environment]\nbuild_timeout_sec = 2\n'),
    },
    state: 'TIMEOUT',
    type: 'EnvironmentStartTimeoutError',
    message: 'Environment start timed out after 2.0 seconds',
  },
  'a COPY of what is outside the context': {
    files: { ...hello, 'environment/Dockerfile': 'FROM ubuntu\nCOPY ../task.toml /app/\n' },
    state: 'FAILED',
    type: 'SandboxBuildFailedError',
    message: 'Dockerfile line 2: COPY ../task.toml: outside the build context',
  },
  ...(python && {
    'tests that need the Python of whoever runs the service': {
      files: {
        ...hello,
        'tests/test.sh': rewardIf(`[ "$(python3 -c 'import sys; print(sys.prefix)')" = '${python.prefix}' ]`),
      },
      state: 'COMPLETED' as const,
      score: 1,
    },
  }),
  'a task that needs a GPU': {
    files: { ...hello, 'environment/Dockerfile': '', 'task.toml': toml('[environment]\ngpus = 1\n') },
    state: 'FAILED',
    type: 'SandboxBuildFailedError',
    message: 'The task needs 1 GPUs, which devboxes do not have',
    hasNoDevbox: true,
  },
  'a build with everything that can be had': {
    files: {
      'environment/Dockerfile': `# comment
FROM python:3.13-slim
ARG WHAT=ever
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends \\
    curl \\
    # in between
    jq && rm -rf /var/lib/apt/lists/* && echo after >after.txt
RUN <<EOF
mkdir -p made
echo "$WHAT" >made/what
EOF
RUN ["/bin/echo", "exec form"]
RUN python3 <<'PY'
open('/app/py', 'w').write('py')
PY
COPY --chmod=755 tool.sh /app/bin/
COPY data *.txt ./
COPY --chown=1:1 one.txt renamed
ADD pack.d /data/
EXPOSE 80
LABEL a=b
USER root
CMD ["sleep", "infinity"]
`,
      'environment/tool.sh': '#!/bin/bash\necho tool\n',
      'environment/data/deep/file': 'deep\n',
      'environment/one.txt': 'one\n',
      'environment/two.txt': 'two\n',
      'environment/pack.d/x': 'x\n',
      'solution/solve.sh':
        '(cat after.txt made/what py; echo; bin/tool.sh; cat deep/file one.txt two.txt renamed /data/x; stat -c %a bin/tool.sh) >out\n',
      'tests/expected': 'after\never\npy\ntool\ndeep\none\ntwo\none\nx\n755\n',
      'tests/test.sh': rewardIf('diff out /tests/expected'),
    },
    state: 'COMPLETED',
    score: 1,
  },
}

describe.skipIf(sandboxProblem !== undefined)('a trial', () => {
  let trials: Trials
  beforeAll(() => {
    trials = startTrials()
  })
  afterAll(() => trials.close())

  describe.concurrent('of', () => {
    for (const [name, { files, agentIs, ...expected }] of Object.entries(rows))
      it(`${name} is ${expected.state}`, async ({ expect: the }) => {
        const trial = await trials.run(files, { ...(agentIs && { agentIs }) })
        const details = [trial.failure_reason, trial.log('trial.log'), trial.log('verifier/test-stdout.txt')]
        the(trial.state, JSON.stringify(details)).toBe(expected.state)
        the(trial.score).toBe(expected.score ?? null)
        the(trial.failure_reason?.exception_type).toBe(expected.type)
        if (expected.message) the(trial.failure_reason?.exception_message).toBe(expected.message)
        if (expected.rewards !== undefined) the(trial.rewards).toEqual(expected.rewards)
        the(trial.log('exception.txt') !== undefined).toBe(expected.type !== undefined)
        the(JSON.parse(trial.log('result.json') ?? '')).toMatchObject({
          task_name: 'task',
          task_checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        })
        the(trial.devboxId === '').toBe(expected.hasNoDevbox ?? false)
        if (expected.hasNoDevbox) return
        the(trials.devboxes.get('test', trial.devboxId).status).toBe('shutdown')
        the(existsSync(join(trials.folder, 'devboxes', trial.devboxId, 'root'))).toBe(false)
      })
  })

  it('skips installs of a build and logs them, in a login shell, too', async () => {
    const { log, score } = await trials.run({
      ...hello,
      'environment/Dockerfile':
        'FROM ubuntu\nWORKDIR /app\nRUN apt-get update && pip install no-such && apt-get install -y bash && echo y >y\nSHELL ["/bin/bash", "-lc"]\nRUN useradd joe && echo z >z\n',
      'tests/test.sh': rewardIf('[ "$(cat y z)" = "y\nz" ] && ! env | grep DEVDECK_BUILD'),
    })
    expect(score).toBe(1)
    const skipped = log('trial.log')?.match(/(?<=WARNING Dockerfile line )\d+: skipped: .*/g)
    // With its own system, the other installs succeed.
    if (hasSystem)
      expect(skipped).toEqual([
        expect.stringMatching(/^3: skipped: pip install no-such \(exit code 1: .*\) \(environment differs\)$/),
      ])
    else
      expect(skipped).toEqual([
        '3: skipped: apt-get update',
        '3: skipped: pip install no-such (environment differs)',
        '3: skipped: apt-get install -y bash',
        '5: skipped: useradd joe (environment differs)',
      ])
  })

  type Differing = [name: string, files: Record<string, string>, sentence: RegExp]
  const differing: Differing[] = [
    [
      'a base image that is not known',
      dockerfile('FROM ghcr.io/team/tools:3\n'),
      /base image ghcr.io\/team\/tools:3 are not available/,
    ],
    ['a language of another version', dockerfile('FROM node:4\n'), /FROM node:4: the task runs with node \d\S* on /],
    [
      'an instruction that needs Docker',
      dockerfile('FROM ubuntu\nADD https://no-such-host.invalid/a /\n'),
      /skipped: ADD https:\/\/no-such-host.invalid\/a \/ is not supported/,
    ],
    [
      'a skipped install',
      dockerfile('FROM ubuntu\nRUN apt-get install -y no-such-package\n'),
      /skipped: apt-get install/,
    ],
    ...(hasSystem
      ? []
      : ([
          ['a user of the image', dockerfile('FROM ubuntu\nUSER joe\n'), /USER joe is not supported/],
          ['a user of the agent', { 'task.toml': toml('[agent]\nuser = "joe"\n') }, /user joe is ignored/],
        ] satisfies Differing[])),
    ['an allowlist', { 'task.toml': toml('[environment]\nnetwork_mode = "allowlist"\n') }, /allowlist/],
    [
      'a network in one phase',
      { 'task.toml': toml('[agent]\nnetwork_mode = "no-network"\n') },
      /network_mode differs between phases/,
    ],
    ['a newer schema', { 'task.toml': 'schema_version = "1.10"\n' }, /schema 1.10 of task.toml is newer than 1.4: /],
  ]
  it.concurrent.each(differing)('warns of %s', async (_, files, sentence) => {
    const trial = await trials.run({ ...hello, ...files })
    expect(trial).toMatchObject({ state: 'COMPLETED', score: 1, environment_differs: true })
    expect(trial.warnings).toContainEqual(expect.stringMatching(sentence))
    expect(trial.log('trial.log')).toMatch(/WARNING .* \(environment differs\)/)
    expect(JSON.parse(trial.log('result.json') ?? '')).toMatchObject({ environment_differs: true })
  })

  it('fails in strict mode if the environment differs', async () => {
    const files = { ...hello, ...dockerfile('FROM node:4\n') }
    const strict = await trials.run(files, { strictEnvironments: true })
    expect(strict).toMatchObject({ state: 'FAILED', score: null, environment_differs: true })
    expect(strict.failure_reason).toEqual({
      exception_type: 'EnvironmentDiffersError',
      exception_message: expect.stringContaining('FROM node:4: the task runs with node'),
    })
  })

  it.concurrent.each<[string, Record<string, string>, isDifferent: boolean]>([
    ['a GPU', { 'task.toml': toml('[environment]\ngpus = 1\n') }, true],
    ['a TPU', { 'task.toml': toml('[environment]\ntpu = { type = "v6e", topology = "2x4" }\n') }, true],
    ['Docker Compose', { 'environment/docker-compose.yaml': 'services: {}\n' }, true],
    ['a RUN that fails', dockerfile('FROM debian\nRUN exit 3\n'), true],
    ['a file that is not there', dockerfile('FROM debian\nCOPY missing /app/\n'), false],
  ])('that cannot be built because of %s says whether the environment differs', async (_, files, isDifferent) => {
    const trial = await trials.run({ ...hello, ...files })
    expect([trial.state, trial.environment_differs]).toEqual(['FAILED', isDifferent])
    if (isDifferent) expect(trial.failure_reason?.exception_message).toContain(trial.warnings.at(-1))
  })

  it('reports no difference for an equal environment', async () => {
    const files = {
      ...hello,
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\nRUN apt-get update && apt-get install -y bash\n',
    }
    const trial = await trials.run(files, { strictEnvironments: true })
    expect(trial).toMatchObject({ state: 'COMPLETED', score: 1, environment_differs: false })
    const found = trial.warnings.filter((warning) => /skipped: apt-get install -y bash/.test(warning))
    expect(found.length).toBe(hasSystem ? 0 : 1)
  })

  it('passes the attempt to the agent', async () => {
    const flaky = { ...hello, 'tests/test.sh': rewardIf('[ "$(cat attempt)" = 2 ]') }
    const agentIs = command('echo $HARBOR_ATTEMPT >attempt')
    const scores = await Promise.all([1, 2].map((attempt) => trials.run(flaky, { agentIs, attempt })))
    expect(scores.map(({ score }) => score)).toEqual([0, 1])
  })

  it('saves logs of agent and verifier without following links', async () => {
    const { log } = await trials.run({
      ...hello,
      'solution/solve.sh':
        'echo said; ln -s /etc/passwd /logs/agent/link; echo a >/logs/artifacts/a; echo hello >hello.txt; exit 3',
    })
    expect([log('agent/oracle.txt'), log('agent/exit-code.txt'), log('artifacts/a')]).toEqual(['said\n', '3', 'a\n'])
    expect(log('verifier/reward.txt')).toBe('1\n')
    expect(log('agent/link')).toBeUndefined()
    expect(log('trial.log')).toMatch(/agent\/link is not saved: a symbolic link/)
  })

  it('survives hostile log files, and limits their size', async () => {
    const hostile =
      'cd /logs; mkdir result.json; touch result.json/a; truncate -s 1500M agent/holes; rm agent/command.txt; mkfifo agent/command.txt; exit 1'
    const { failure_reason, score, log } = await trials.run(
      { ...hello, 'tests/test.sh': reward('1') },
      { agentIs: command(hostile) },
    )
    expect([failure_reason?.exception_type, score]).toEqual(['NonZeroAgentExitCodeError', 1])
    expect(JSON.parse(log('result.json') ?? '')).toMatchObject({ outcome: { score: 1 } })
    expect(log('trial.log')).toMatch(/agent\/holes is not saved: the logs would be larger than 1073741824 bytes/)
  })

  it.runIf(hasSystem)('ends even if its agent replaced system programs with endless ones', async () => {
    const asleep = 'printf "#!/bin/sh\\nexec sleep 1000" >/tmp/a; chmod +x /tmp/a; cp /tmp/a /usr/bin/tail'
    const { failure_reason, score } = await trials.run(
      { ...hello, 'tests/test.sh': reward('1') },
      { agentIs: command(`${asleep}; exit 1`), ownSeconds: 2 },
    )
    expect([failure_reason?.exception_type, score]).toEqual(['NonZeroAgentExitCodeError', 1])
    const { state } = await trials.run(hello, { agentIs: command(`${asleep}; mv /tmp/a /bin/bash`), ownSeconds: 2 })
    expect(state).toBe('FAILED')
  })

  it('passes secrets only where configured, and masks them in logs', async () => {
    trials.secrets.create('test', 'KEY', 'sesame-open', Date.now())
    const { score, log } = await trials.run(
      {
        ...hello,
        'task.toml': toml(`[verifier.env]\nJUDGE = "\${KEY}"\n`),
        'tests/test.sh': rewardIf('[ "$JUDGE$(cat seen)" = sesame-opensesame-open -a -z "$MINE" ]'),
      },
      {
        agentIs: {
          ...command('echo "$MINE" | tee seen /logs/artifacts/leak; [ -z "$JUDGE" ]'),
          env: { variables: {}, secrets: { MINE: 'KEY' } },
        },
      },
    )
    expect(score).toBe(1)
    expect([log('agent/command.txt'), log('artifacts/leak')]).toEqual(['***\n', '***\n'])
  })

  it('masks secrets in failures and reward names', async () => {
    trials.secrets.create('test', 'TOLD', 'sesame-told', Date.now())
    const { failure_reason, rewards } = await trials.run(
      {
        ...hello,
        'task.toml': toml(`[environment.env]\nWORD = "\${TOLD}"\n`),
        'tests/test.sh': `echo "{\\"$WORD\\": 0.5}" >/logs/verifier/reward.json\n`,
      },
      { agentIs: command('echo "it was $WORD"; exit 3') },
    )
    expect(failure_reason?.exception_message).toBe("The agent's command failed with exit code 3: it was ***")
    expect(rewards).toEqual({ '***': 0.5 })
  })

  it('fails for a missing secret, and never uses the service environment', async () => {
    const { failure_reason } = await trials.run({ ...hello, 'task.toml': toml(`[environment.env]\nP = "\${PATH}"\n`) })
    expect(failure_reason).toEqual({
      exception_type: 'ValueError',
      exception_message: 'Environment variable PATH is not set: the account has no secret with that name',
    })
  })

  it('applies timeout overrides, caps and multipliers', async () => {
    const slow = { ...hello, 'solution/solve.sh': 'sleep infinity\n' }
    const { failure_reason } = await trials.run(slow, {
      agentIs: { ...oracle, overrideTimeoutSeconds: 1000, maxTimeoutSeconds: 2 },
      settings: { ...settings, timeoutMultiplier: 10, agentTimeoutMultiplier: 0.25 },
    })
    expect(failure_reason?.exception_message).toBe('Agent execution timed out after 0.5 seconds')
  })

  it('can be canceled in any phase', async () => {
    const endless = { ...hello, 'solution/solve.sh': 'echo begun; sleep infinity' }
    const over = new AbortController()
    const devbox = Promise.withResolvers<string>()
    const running = trials.run(endless, { signal: over.signal, onDevbox: devbox.resolve })
    await agentStarted(await devbox.promise)
    over.abort()
    const { state, failure_reason, devboxId } = await running
    expect([state, failure_reason?.exception_type]).toEqual(['CANCELED', 'CancelledError'])
    expect(trials.devboxes.get('test', devboxId).status).toBe('shutdown')
    const early = new AbortController()
    const { state: earlyState } = await trials.run(endless, { signal: early.signal, onDevbox: () => early.abort() })
    expect(earlyState).toBe('CANCELED')
  })

  it('fails if its devbox is shut down', async () => {
    const endless = { ...hello, 'solution/solve.sh': 'echo begun; sleep infinity' }
    const devbox = Promise.withResolvers<string>()
    const running = trials.run(endless, { onDevbox: devbox.resolve })
    await agentStarted(await devbox.promise)
    await trials.devboxes.shutdown('test', await devbox.promise, { force: true })
    const { state, failure_reason } = await running
    expect(state).toBe('FAILED')
    expect(failure_reason?.exception_message).toMatch(/devbox has ended/i)
  })

  it('isolates networks: four attempts listen on one port, and none reaches this machine', async () => {
    const machine = await startOwnServer()
    const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
    const calls = addresses.map((address) => `! (exec 3<>/dev/tcp/${address.replace(/%.*/, '')}/${machine.port}) 2>&1`)
    const listening = {
      ...hello,
      'solution/solve.sh': `python3 - <<'END'
import os, socket, time
server = socket.create_server(("", 8000))
print("begun", flush=True)
while not os.path.exists("/logs/go"): time.sleep(0.02)
END
echo hello >hello.txt\n`,
      'tests/test.sh': rewardIf(calls.join(' && ')),
    }
    const devboxes = [1, 2, 3, 4].map(() => Promise.withResolvers<string>())
    const running = devboxes.map(({ resolve }, i) => trials.run(listening, { attempt: i + 1, onDevbox: resolve }))
    const ids = await Promise.all(devboxes.map(({ promise }) => promise))
    await Promise.all(ids.map(agentStarted))
    for (const id of ids) writeFileSync(join(trials.folder, 'devboxes', id, 'root/logs/go'), '')
    expect((await Promise.all(running)).map(({ state, score }) => [state, score])).toEqual(
      ids.map(() => ['COMPLETED', 1]),
    )
    machine.close()
  })

  /** Resolves when the oracle has written a line. */
  const agentStarted = async (devboxId: string) => {
    const oracleLog = join(trials.folder, 'devboxes', devboxId, 'root/logs/agent/oracle.txt')
    await expect.poll(() => existsSync(oracleLog) && readFileSync(oracleLog, 'utf8')).toBe('begun\n')
  }
})
