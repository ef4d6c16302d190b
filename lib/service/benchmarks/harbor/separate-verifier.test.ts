import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxProblem, startTrials, type Trials } from '#lib/service/testing/trials.ts'

/** Reward 1 if the command succeeds, else 0. */
const rewardIf = (command: string) => `if ${command}; then r=1; else r=0; fi; echo $r >/logs/verifier/reward.txt\n`
const separate = 'artifacts = ["/app/out"]\n[verifier]\nenvironment_mode = "separate"\n'

describe.skipIf(sandboxProblem !== undefined)('a separate verifier', () => {
  let trials: Trials
  beforeAll(() => {
    trials = startTrials()
  })
  afterAll(() => trials.close())

  it('gets the tests and artifacts and nothing else of the agent', async () => {
    const { state, score, log } = await trials.run({
      'task.toml': `${separate}[[verifier.collect]]\ncommand = "echo late >>/logs/artifacts/collected"\n`,
      'environment/Dockerfile': 'FROM ubuntu\nWORKDIR /app\nRUN echo given >/app/given\n',
      'solution/solve.sh':
        'mkdir out; echo hello >out/file; echo kept >/logs/artifacts/kept; touch left; echo 1 >given; echo forged >/logs/verifier/forged\n',
      'tests/test.sh': rewardIf(
        '[ "$(cat /app/out/file /app/given /logs/artifacts/*)" = "$(printf "hello\\ngiven\\nlate\\nkept")" ] && [ ! -e left -a ! -e /solution -a "$PWD" = /app ]',
      ),
    })
    expect([state, score]).toEqual(['COMPLETED', 1])
    expect([log('verifier/reward.txt'), log('verifier/forged')]).toEqual(['1\n', undefined])
    expect(log('artifacts/kept')).toBe('kept\n')
  })

  it('is built from the Dockerfile next to its tests, without copying them', async () => {
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

  it('can be set per step, while the agent keeps its environment', async () => {
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

  const judged = {
    'solution/solve.sh': 'mkdir out && echo hello >out/file\n',
    'tests/test.sh': rewardIf('[ "$(cat /app/out/file)" = hello ]'),
  }
  const ownDockerfile = { 'tests/Dockerfile': 'FROM ubuntu\nWORKDIR /app\nCOPY test.sh /tests/\n' }
  const noImage = /neither a Dockerfile next to its tests nor a docker_image/
  it.each<[string, Record<string, string>, RegExp | null]>([
    [
      'the image that the task names',
      { 'task.toml': `${separate}[environment]\ndocker_image = "debian"\nworkdir = "/app"\n` },
      null,
    ],
    ['a Dockerfile of the task alone', { 'task.toml': separate }, noImage],
    ['a table without an image', { 'task.toml': `${separate}[verifier.environment]\ncpus = 1\n` }, noImage],
    [
      'an image with tests that are not here',
      { 'task.toml': `${separate}[verifier.environment]\ndocker_image = "ubuntu"\nworkdir = "/app"\n` },
      /Harbor expects them in its image ubuntu/,
    ],
    [
      'some hosts of the network',
      { ...ownDockerfile, 'task.toml': `${separate}[verifier.environment]\nnetwork_mode = "allowlist"\n` },
      /allowlist is not supported: the separate verifier has no network/,
    ],
  ])('with %s warns if the environment differs', async (_, files, sentence) => {
    const trial = await trials.run({ ...judged, ...files })
    expect(trial).toMatchObject({ state: 'COMPLETED', score: 1, environment_differs: sentence !== null })
    if (sentence) expect(trial.warnings).toContainEqual(expect.stringMatching(sentence))
  })

  it.each<[string, Record<string, string>, string]>([
    [
      'built by Docker Compose',
      { ...ownDockerfile, 'tests/docker-compose.yaml': 'services: {}\n', 'task.toml': separate },
      'tests needs Docker Compose',
    ],
    ['with a GPU', { 'task.toml': `${separate}[verifier.environment]\ngpus = 1\n` }, 'needs 1 GPUs'],
    [
      'that is shared as well',
      { 'task.toml': '[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1\n' },
      'but environment_mode is shared',
    ],
  ])('%s fails with the reason', async (_, files, message) => {
    const { state, failure_reason } = await trials.run({ ...judged, ...files })
    expect([state, failure_reason?.exception_message]).toEqual(['FAILED', expect.stringContaining(message)])
  })

  it('has its own network mode', async () => {
    const hasNetwork = 'grep -qv -e "lo:" -e "|" /proc/net/dev || [ -n "$HTTP_PROXY" ]'
    const run = (more: string) =>
      trials.run({
        ...ownDockerfile,
        'task.toml': `${separate}${more}`,
        'solution/solve.sh': `if ${hasNetwork}; then echo yes; else echo no; fi >out\n`,
        'tests/test.sh': rewardIf(`[ "$(cat /app/out)" = no ] && { ${hasNetwork}; }`),
      })
    const trial = await run('[verifier.environment]\ncpus = 1\n[environment]\nallow_internet = false\n')
    expect(trial).toMatchObject({ score: 1, environment_differs: false })
    expect(
      await run('[agent]\nnetwork_mode = "no-network"\n[environment]\nnetwork_mode = "no-network"\n'),
    ).toMatchObject({
      score: 0,
      environment_differs: false,
    })
  })

  it('gets artifact links, and no missing artifact', async () => {
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
    expect(none.log('trial.log')).toMatch(/Artifact \/app\/out does not exist/)
    expect(log('trial.log')).not.toMatch(/could not be copied/)
  })

  it('leaves no devbox running', () => {
    const disks = trials.devboxes.runningDisks()
    expect([...disks]).toEqual([])
  })
})
