import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Scorer } from '#lib/contract/scenarios.ts'
import { describeUnderEachLocalIsolation } from '#lib/service/testing/isolation.ts'
import { command, makeScenario, scenarioOf, scoreOf, script } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describeUnderEachLocalIsolation('scorers under isolation', (isolation) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation })
  })
  afterAll(() => service.close())

  /** Scores one run with all scorers; results in order. */
  const scoreAll = async (scorers: Scorer[], prepare?: string, more: object = {}, run?: object) => {
    const weight = 1 / scorers.length
    const { id } = await service.client.scenarios.create({
      body: {
        ...scenarioOf(command('true')),
        scoring_contract: {
          scoring_function_parameters: scorers.map((scorer, i) => ({ name: `f${i}`, weight, scorer })),
        },
        ...more,
      },
    })
    const { functions = [], score } = await scoreOf(service, id, prepare, run)
    return { results: functions.map(({ score, state, output }) => ({ score, state, output })), score }
  }
  const complete = (score: number, output: unknown = expect.anything()) => ({ score, state: 'complete', output })
  const error = (reason: string) => ({ score: 0, state: 'error', output: expect.stringContaining(reason) })

  it('take the exit status of a command', async () => {
    const { results, score } = await scoreAll([
      command('echo out; echo err >&2'),
      command('exit 3'),
      command('kill -9 $$'),
      command(''),
      { type: 'command_scorer' },
      command('a\0b'),
    ])
    expect(results).toEqual([
      complete(1, 'out\nerr\n'),
      complete(0, ''),
      complete(0),
      error('has no command'),
      error('has no command'),
      error('contains a NUL character'),
    ])
    expect(score).toBe(1 / 6)
  })

  it('take the last score of a bash script, whatever its exit status', async () => {
    const { results } = await scoreAll([
      script('#!/bin/bash\nset -e\necho score=0.25\necho "score=0.75"; false'),
      script('echo 0.5'),
      script('echo score=1.5'),
      script('echo score=high; exit 4'),
      script("echo 'it''s' \"quoted\"\ncat <<'END'\nscore=1\nEND"),
      script(`# ${'long '.repeat(40_000)}\necho score=0.125`),
    ])
    expect(results).toEqual([
      complete(0.75, 'score=0.25\nscore=0.75\n'),
      error('has no line score=<number>; exit code 0'),
      error('The score 1.5 is not between 0 and 1'),
      error('has no line score=<number>; exit code 4'),
      complete(1),
      complete(0.125, 'score=0.125\n'),
    ])
  })

  it('run in the working directory, with the variables and secrets of the run', async () => {
    await service.client.secrets.create({ body: { name: 'TOKEN', value: 'swordfish' } })
    // The scorer sees the secret; the record of its output does not have it.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's, not ours
    const scenario = await makeScenario(service, script('echo "$PWD:$A:${#T}:$T"; [[ -e made ]] && echo score=1'), {
      environment_parameters: { working_directory: "~/it's/deep" },
    })
    const profile = { envVars: { A: 'given' }, secrets: { T: 'TOKEN' } }
    const { functions } = await scoreOf(service, scenario, 'cd "it\'s/deep" && touch made', { runProfile: profile })
    expect(functions).toMatchObject([
      { score: 1, output: expect.stringMatching(/\/it's\/deep:given:9:\*\*\*\nscore=1\n$/) },
    ])
  })

  it('fail if the working directory is missing', async () => {
    const more = { environment_parameters: { working_directory: 'work' } }
    const { results } = await scoreAll([command('true'), script('echo score=1')], 'rmdir work', more)
    const missing = error('The working directory work does not exist or is not accessible')
    expect(results).toEqual([missing, missing])
  })

  it('run a Python script, or report what is missing', async () => {
    const python = (python_script: string, more: object = {}): Scorer => ({
      type: 'python_script_scorer',
      python_script,
      ...more,
    })
    const { results } = await scoreAll(
      [
        python('import solution\nprint("looking")\nprint(solution.answer / 84)'),
        python('print(1)', { python_version_constraint: '>=3.6,<4', requirements_contents: '# nothing\n' }),
        python('print(1)', { python_version_constraint: '==2.7.1' }),
        python('print(1)', { python_version_constraint: 'newest' }),
        python('print(1)', { requirements_contents: 'no-such-package>=1\n' }),
        python('print(1)', { requirements_contents: '-r other.txt' }),
        python('print(0.5)\nraise SystemExit("broken")'),
        python('print("done")'),
        python('print(-1)'),
      ],
      // A scorer that imports one of these instead of the standard module would score 1.
      `echo "answer = 42" >solution.py
      for name in sitecustomize usercustomize json platform runpy importlib; do echo 'print(1); exit(0)' >$name.py; done`,
    )
    expect(results).toEqual([
      complete(0.5, 'looking\n0.5\n'),
      complete(1),
      error('the scorer needs ==2.7.1'),
      error('The Python version constraint newest is invalid'),
      error('the devbox lacks no-such-package>=1'),
      error('The requirement "-r other.txt" is not supported'),
      error('The script exited with 1'),
      error('The last output line is not a number'),
      error('The score -1 is not between 0 and 1'),
    ])
    expect(results[6]?.output).toContain('broken')
  })

  it('write test files below the working directory, then run the tests', async () => {
    const test_files = [
      { file_path: 'tests/deep/./a.txt', file_contents: 'a ü\n' },
      { file_path: 'empty' },
      { file_path: 'replaced', file_contents: 'new' },
    ]
    const { results } = await scoreAll(
      [
        {
          type: 'test_based_scorer',
          test_files,
          test_command: 'cat tests/deep/a.txt replaced; [[ -f empty && ! -s empty ]]',
        },
        { type: 'test_based_scorer', test_files: [{ file_path: 'folder', file_contents: '' }], test_command: 'true' },
        { type: 'test_based_scorer', test_files },
      ],
      'cd work; echo old >replaced; mkdir folder',
      { environment_parameters: { working_directory: 'work' } },
    )
    expect(results).toEqual([
      complete(1, 'a ü\nnew'),
      error('The file folder could not be written'),
      error('has no test command'),
    ])
  })

  it('search for a pattern with ast-grep, or fail without it', async () => {
    const scorer = (pattern: string, search_directory = 'src'): Scorer => ({
      type: 'ast_grep_scorer',
      pattern,
      search_directory,
      lang: 'js',
    })
    const { results: without } = await scoreAll([scorer('foo')])
    expect(without).toEqual([error('This scorer needs ast-grep, which the devbox does not have')])
    // A fake ast-grep that checks its arguments.
    const fake = `#!/bin/bash
[[ $* == "run --pattern console.log(\\$A) --lang js --json=stream -- src" ]] && echo '{"text":"console.log(1)"}' && exit
[[ $3 == broken ]] && exit 8
exit 1`
    const prepare = `mkdir bin src && cat >bin/ast-grep <<'END' && chmod +x bin/ast-grep\n${fake}\nEND`
    const scorers = [scorer('console.log(\\$A)'), scorer('eval($A)'), scorer('broken'), scorer('x', 'nowhere')]
    const { results } = await scoreAll(scorers, prepare, {}, { runProfile: { envVars: { PATH: 'bin:/usr/bin:/bin' } } })
    expect(results.map(({ score, state }) => [score, state])).toEqual([
      [1, 'complete'],
      [0, 'complete'],
      [0, 'error'],
      [0, 'error'],
    ])
    expect(results[3]?.output).toContain('nowhere: No such file or directory')
  })

  it('pass parameters and scenario to a custom scorer', async () => {
    await service.client.scenarios.createScorer({
      body: {
        type: 'context',
        bash_script: `python3 -c 'import json, os
c = json.loads(os.environ["RL_SCORER_CONTEXT"])
print(c["expected"], c["scorer_params"], c["input_context"]["problem_statement"], c["reference_output"], c["working_directory"], sep="|")'
echo 0.5`,
      },
    })
    const scorer: Scorer = {
      type: 'custom_scorer',
      custom_scorer_type: 'context',
      scorer_params: { expected: "it's 10" },
    }
    const { results } = await scoreAll([scorer], '', {
      reference_output: 'ref',
      environment_parameters: { working_directory: 'work' },
    })
    expect(results).toEqual([complete(0.5, "it's 10|{'expected': \"it's 10\"}|Solve it|ref|work\n0.5\n")])
  })

  it('pass only parameters if the scenario is too large, and reject large parameters', async () => {
    await service.client.scenarios.createScorer({
      body: { type: 'size', bash_script: 'echo $' + '{#RL_SCORER_CONTEXT}; echo score=1' },
    })
    const scorer = (text: string): Scorer => ({
      type: 'custom_scorer',
      custom_scorer_type: 'size',
      scorer_params: { text },
    })
    const { results } = await scoreAll([scorer('x'), scorer('x'.repeat(200_000))], '', {
      input_context: { problem_statement: 'y'.repeat(150_000) },
    })
    expect(results).toEqual([complete(1, '12\nscore=1\n'), error('parameters are larger than 100000 bytes')])
  })

  it('are killed with their child processes on timeout', async () => {
    const slow = command('trap "" TERM INT; sleep infinity & wait')
    const { results, score } = await scoreAll([slow, command('true')], undefined, { scorer_timeout_sec: 1 })
    expect(score).toBe(0)
    expect(results).toEqual([
      error('devdeck: Scoring timed out; this scorer was killed'),
      error('devdeck: Scoring timed out before this scorer started'),
    ])
  })
})
