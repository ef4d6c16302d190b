import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxProblem, startTrials, type Trials } from '#lib/service/testing/trials.ts'

/** A reward of 1 when the command succeeds, else 0. */
const rewardIf = (command: string) => `if ${command}; then r=1; else r=0; fi; echo $r >/logs/verifier/reward.txt\n`
const separate = 'artifacts = ["/app/out"]\n[verifier]\nenvironment_mode = "separate"\n'

describe.skipIf(sandboxProblem !== undefined)('a verifier in an environment of its own', () => {
  let trials: Trials
  beforeAll(() => {
    trials = startTrials()
  })
  afterAll(() => trials.close())

  it('begins as the task does, with the tests and the artifacts and nothing else of the agent', async () => {
    const { state, score, log, environment_differs } = await trials.run({
      'task.toml': `${separate}[[verifier.collect]]\ncommand = "echo late >>/logs/artifacts/collected"\n`,
      'environment/Dockerfile': 'FROM ubuntu\nWORKDIR /app\nRUN echo given >/app/given\n',
      'solution/solve.sh':
        'mkdir out; echo hello >out/file; echo kept >/logs/artifacts/kept; touch left; echo 1 >given; echo forged >/logs/verifier/forged\n',
      'tests/test.sh': rewardIf(
        '[ "$(cat /app/out/file /app/given /logs/artifacts/*)" = "$(printf "hello\\ngiven\\nlate\\nkept")" ] && [ ! -e left -a ! -e /solution -a "$PWD" = /app ]',
      ),
    })
    expect([state, score, environment_differs]).toEqual(['COMPLETED', 1, false])
    expect([log('verifier/reward.txt'), log('verifier/forged')]).toEqual(['1\n', undefined])
    expect(log('artifacts/kept')).toBe('kept\n')
  })

  it('is built from the Dockerfile beside its tests, which then are not put into it', async () => {
    const { score, log } = await trials.run({
      'task.toml': `${separate}[verifier.environment]\nworkdir = "/judge"\n[verifier.environment.env]\nMARK = "own"\n`,
      'solution/solve.sh': 'echo hello >out\n',
      'tests/Dockerfile': 'FROM ubuntu\nCOPY test.sh /tests/\nRUN echo hidden >/answer\n',
      'tests/other': '',
      'tests/test.sh': rewardIf(
        '[ "$(cat /app/out) $(cat /answer) $PWD $MARK" = "hello hidden /judge own" ] && [ ! -e /tests/other ]',
      ),
    })
    expect(log('verifier/test-stdout.txt')).toBe('')
    expect(score).toBe(1)
  })

  it('is one for a step that asks for it, and the agent works on in the environment it has', async () => {
    const { score, rewards, log } = await trials.run({
      'task.toml': `version = "1.0"
[[steps]]
name = "one"
artifacts = [{ source = "/app/out", exclude = ["*.tmp"] }]
[steps.verifier]
environment_mode = "separate"
[[steps]]
name = "two"
`,
      'steps/one/instruction.md': 'one',
      'steps/one/solution/solve.sh': 'mkdir out; echo 1 >out/a; touch out/b.tmp; echo x >state\n',
      'steps/one/tests/test.sh': rewardIf('[ -s out/a -a ! -e out/b.tmp -a ! -e state ]'),
      'steps/two/instruction.md': 'two',
      'steps/two/solution/solve.sh': 'cat state out/a >both\n',
      'steps/two/tests/test.sh': rewardIf('[ "$(cat both)" = "$(printf "x\\n1")" ]'),
    })
    expect([score, rewards]).toEqual([1, { reward: 1 }])
    expect(log('steps/one/verifier/reward.txt')).toBe('1\n')
  })

  it('takes from the agent no more than an artifact, and misses what is not there', async () => {
    const { score, log } = await trials.run({
      'task.toml': separate,
      'solution/solve.sh': 'ln -s /tests out\n',
      'tests/test.sh': rewardIf('[ -L /app/out -a "$(ls /tests)" = test.sh ]'),
    })
    expect(score).toBe(1)
    const none = await trials.run({
      'task.toml': separate,
      'solution/solve.sh': 'true\n',
      'tests/test.sh': rewardIf('[ ! -e /app/out ]'),
    })
    expect(none.score).toBe(1)
    expect(none.log('trial.log')).toMatch(/Artifact \/app\/out is not there/)
    expect(log('trial.log')).not.toMatch(/could not be copied/)
  })

  it('leaves no devbox running', () => {
    const disks = trials.devboxes.runningDisks()
    expect([...disks]).toEqual([])
  })
})
