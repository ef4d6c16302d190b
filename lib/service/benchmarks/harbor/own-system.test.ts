import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cachedEnvironments, clearEnvironments } from '#lib/service/benchmarks/environments.ts'
import { systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import { sandboxProblem, settings, startTrials, type Trials } from '#lib/service/testing/trials.ts'

const problem = sandboxProblem ?? (await systemProblem())

/** Reward 1 if the command succeeds, else 0. */
const rewardIf = (command: string) => `if ${command}; then r=1; else r=0; fi; echo $r >/logs/verifier/reward.txt\n`

const packed = execFileSync('bash', ['-c', 'cd "$(mktemp -d)" && echo in >inside && tar -cz inside && rm -r "$PWD"'])

interface Row {
  files: Record<string, string | Uint8Array>
  /** Besides the warning about the base image. */
  warnings?: RegExp[]
}

const rows: Record<string, Row> = {
  'a web server with its own user, folders and system files': {
    files: {
      'environment/Dockerfile': `FROM debian:bookworm-slim
ENV APP_HOME=/opt/site PORT=8000
RUN groupadd --gid 1500 web && useradd --create-home --uid 1500 --gid web --shell /bin/bash web
RUN mkdir -p "$APP_HOME/public" /var/log/site /srv/data && chown -R web:web "$APP_HOME" /var/log/site
RUN sed -i 's/^root:[^:]*:/root:x:/' /etc/passwd && echo "site $PORT/tcp" >>/etc/services && echo 'Europe/Paris' >/etc/timezone
COPY serve /usr/local/bin/
RUN chmod 755 /usr/local/bin/serve && ln -s serve /usr/local/bin/site && chmod u+s,g-w /srv/data && rm -rf /usr/share/doc
COPY --chown=web:web index.html /opt/site/public/
WORKDIR /opt/site
`,
      'environment/serve': '#!/bin/bash\necho "serving $PWD as $(id -un)"\n',
      'environment/index.html': 'hello\n',
      'solution/solve.sh': 'id -un >who; su web -c "site >public/said"; echo 127.0.0.1 db >>/etc/hosts\n',
      'tests/expected':
        'serving /opt/site as web\nweb 644\nweb 755\n4755\nsite 8000/tcp\nEurope/Paris\nroot\nweb:/home/web\nweb\n',
      'tests/test.sh': `(cat public/said; stat -c '%U %a' public/index.html /var/log/site; stat -c %a /srv/data; tail -n 1 /etc/services; cat /etc/timezone who; getent passwd 1500 | cut -d: -f1,6; stat -c %U public/said) >/tmp/out 2>&1
${rewardIf('diff /tmp/out /tests/expected && [ ! -e /usr/share/doc ] && getent hosts db "$HOSTNAME" >/dev/null')}`,
    },
  },
  'the non-root USER of the image': {
    files: {
      'environment/notes/a': '',
      'environment/Dockerfile': `FROM debian:12
RUN useradd -m user && mkdir /desk && chown user: /desk
COPY notes /desk
COPY notes /tmp/
USER user
WORKDIR /desk
RUN echo "$HOME $(id -un)" >made
`,
      'solution/solve.sh':
        'id -un >out; cat made ~/../user/.profile >/dev/null && pwd >>out; touch /etc/no 2>/dev/null || echo refused >>out\n',
      'tests/test.sh': rewardIf(
        '[ "$(cat out made; id -un; stat -c "%U %a" ~ /desk /desk/a /tmp)" = "$(printf "user\\n/desk\\nrefused\\n/home/user user\\nuser\\nuser 755\\nuser 755\\nroot 644\\nroot 1777")" ]',
      ),
    },
  },
  'the user of its base image, and programs at the paths of the image': {
    files: {
      'environment/Dockerfile':
        'FROM node\nSHELL ["/bin/bash", "-lc"]\nRUN echo export MADE=1 >>~/.bashrc\nRUN test "$MADE"\nUSER node\nWORKDIR /home/node/app\n',
      'solution/solve.sh':
        '#!/usr/local/bin/node\nrequire("fs").writeFileSync(process.env.HOME + "/out", "solved\\n")\n',
      'tests/test.sh': rewardIf(
        '[ "$(stat -c %U ~/out; cat /home/node/out; ls /home)" = "$(printf "node\\nsolved\\nnode")" ]',
      ),
    },
  },
  'files owned by a user, and archives of any name': {
    files: {
      'environment/one': '1\n',
      'environment/packed': packed,
      'environment/plain.tar': 'not packed\n',
      'environment/alone.gz': gzipSync('alone\n'),
      'environment/Dockerfile': `FROM debian
ARG MODE=640 OWNER=web
RUN useradd web && mkdir /desk
COPY --chown=$OWNER --chmod=\${MODE} one /desk
COPY --chown=web one /desk/two
ADD packed plain.tar alone.gz /desk/
WORKDIR /desk
`,
      'solution/solve.sh': '',
      'tests/test.sh': rewardIf(
        '[ "$(stat -c "%U %a" . one two; cat inside plain.tar; zcat alone.gz; ls)" = "$(printf "root 755\\nweb 640\\nweb 644\\nin\\nnot packed\\nalone\\nalone.gz\\ninside\\none\\nplain.tar\\ntwo")" ]',
      ),
    },
  },
  'a user for the agent and root for the verifier': {
    files: {
      'task.toml': 'version = "1.0"\n[agent]\nuser = "agent"\n[verifier]\nuser = "root"\n',
      'environment/Dockerfile':
        'FROM python\nRUN useradd -m agent && mkdir -m 700 /secret && echo 1 >/secret/answer && mkdir /app && chown agent /app\nWORKDIR /app\n',
      'solution/solve.sh': 'id -un >out; cat /secret/answer >>out 2>/dev/null || echo refused >>out\n',
      'tests/test.sh': rewardIf(
        '[ "$(cat out; id -un; cat /secret/answer)" = "$(printf "agent\\nrefused\\nroot\\n1")" ] && su agent -c "$(command -v python3 || echo true) --version"',
      ),
    },
  },
  'the user of the agent in the setup of each step': {
    files: {
      'task.toml': `version = "1.0"
[agent]
user = "agent"
[verifier]
user = "root"
[[steps]]
name = "one"
[[steps]]
name = "two"
[steps.healthcheck]
command = "[ $(id -un) = agent ]"
retries = 1
`,
      'environment/Dockerfile': 'FROM debian\nRUN useradd -m agent && mkdir -m 777 /app\nWORKDIR /app\n',
      ...Object.fromEntries(
        ['one', 'two'].flatMap((step) => [
          [`steps/${step}/instruction.md`, 'Do it.\n'],
          [`steps/${step}/workdir/setup.sh`, `id -un >set-up-${step}\n`],
          [`steps/${step}/tests/test.sh`, rewardIf(`[ "$(cat set-up-${step}; id -un)" = "$(printf "agent\\nroot")" ]`)],
        ]),
      ),
      'solution/solve.sh': '',
    },
  },
  'the user of the image in the collect commands of a separate verifier': {
    files: {
      'task.toml': `version = "1.0"
[agent]
user = "agent"
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "(id -un; cat /secret; cat out) >/logs/artifacts/one"
[[verifier.collect]]
command = "id -un >/logs/artifacts/two"
user = "agent"
`,
      'environment/Dockerfile':
        'FROM debian\nRUN useradd agent && echo s >/secret && chmod 600 /secret && mkdir -m 777 /app\nWORKDIR /app\n',
      'solution/solve.sh': 'id -un >out\n',
      'tests/test.sh': rewardIf(
        '[ "$(cat /logs/artifacts/*; id -un)" = "$(printf "root\\ns\\nagent\\nagent\\nroot")" ]',
      ),
    },
    warnings: [/neither a Dockerfile next to its tests/],
  },
  'a numeric user that the image does not know': {
    files: {
      'task.toml': 'version = "1.0"\n[agent]\nuser = 4321\n',
      'environment/Dockerfile': 'FROM debian\nRUN mkdir -m 777 /app\nWORKDIR /app\n',
      'solution/solve.sh': 'id -u >out; id -g >>out\n',
      'tests/test.sh': rewardIf('[ "$(cat out; id -u)" = "$(printf "4321\\n0\\n0")" ]'),
    },
  },
  'a warning for an install without the network it needs': {
    files: {
      'task.toml': 'version = "1.0"\n[environment]\nallow_internet = false\n',
      'environment/Dockerfile':
        'FROM python\nWORKDIR /app\nRUN pip install --no-cache-dir no-such-package==1.2.3 \\\n && echo after >after\nRUN apt-get update && apt-get install -y no-such-package && echo then >>after\n',
      'solution/solve.sh': '',
      'tests/test.sh': rewardIf('[ "$(cat after)" = "$(printf "after\\nthen")" ]'),
    },
    warnings: [
      /^Dockerfile line 3: skipped: pip install --no-cache-dir no-such-package==1.2.3 \(exit code 1: .*no-such-package/,
      /^Dockerfile line 5: skipped: apt-get install -y no-such-package \(exit code 100: E: Unable to locate package no-such-package\)/,
    ],
  },
  'a warning for a failed download in a pipe': {
    files: {
      'environment/Dockerfile':
        'FROM debian\nWORKDIR /app\nRUN curl -LsSf https://no-such-host.invalid/install.sh | sh\nRUN curl -s http://localhost:1/ || echo none >none\n',
      'solution/solve.sh': '',
      'tests/test.sh': rewardIf('[ -e none ]'),
    },
    warnings: [/^Dockerfile line 3: failed: curl -LsSf https:\/\/no-such-host.invalid\/install.sh \(exit code 6\)$/],
  },
  'only the files that .dockerignore includes': {
    files: {
      'environment/Dockerfile':
        'FROM debian\nRUN useradd joe\nWORKDIR /app\nCOPY --chown=joe . .\nCOPY data/a* /other/\n',
      'environment/.dockerignore':
        '# not these\nDockerfile\n.dockerignore\n**/*.key\ndata/cache\n!data/cache/kept/*\nnotes\n',
      'environment/a.txt': '',
      'environment/a.key': '',
      'environment/data/a.txt': '',
      'environment/data/a.key': '',
      'environment/data/cache/b': '',
      'environment/data/cache/kept/c': '',
      'environment/notes/d': '',
      'solution/solve.sh': '',
      'tests/expected':
        './a.txt joe\n./data joe\n./data/a.txt joe\n./data/cache joe\n./data/cache/kept joe\n./data/cache/kept/c joe\n',
      'tests/test.sh': rewardIf(
        'find . -mindepth 1 -printf "%p %u\\n" | sort | diff - /tests/expected && [ "$(ls /other)" = a.txt ]',
      ),
    },
  },
  'the stage its own is based on, and no process of an earlier step': {
    files: {
      'environment/Dockerfile':
        'FROM debian AS base\nWORKDIR /app\nRUN echo base >made && (sleep 1000 & nohup sleep 2000 >/dev/null 2>&1 &)\nFROM base\nRUN ! pgrep -x sleep\nCOPY fixture /tests/fixtures/one\n',
      'environment/fixture': '',
      'tests/helper': '',
      'solution/solve.sh': '',
      'tests/test.sh': rewardIf('[ "$(cat made)" = base ] && [ -f /tests/fixtures/one ] && [ -f /tests/helper ]'),
    },
  },
}

describe.skipIf(problem !== undefined)('cached environments', () => {
  let trials: Trials
  beforeAll(() => {
    // Room for two environments.
    trials = startTrials({ maxEnvironmentBytes: 10 * 2 ** 20 })
  })
  afterAll(() => trials.close())

  const build = (name: string, mebibytes: number) => ({
    'environment/Dockerfile': `FROM debian\nWORKDIR /app\nRUN head -c ${mebibytes}M /dev/urandom >/opt/big && echo ${name} >/opt/${name} && date +%s%N >>/opt/${name}\n`,
    'solution/solve.sh': `cp /opt/${name} /logs/artifacts/built\n`,
    'tests/test.sh': rewardIf(`[ -s /opt/${name} ]`),
  })
  const agentLogs = (devboxId: string) => join(trials.folder, 'devboxes', devboxId, 'root', 'logs', 'agent')
  const cachedCount = async () => {
    const all = await cachedEnvironments(join(trials.folder, 'environments'))
    expect(all.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(10 * 2 ** 20)
    return all.length
  }
  const built = async (files: Record<string, string>) => {
    const trial = await trials.run(files)
    expect([trial.state, trial.score], JSON.stringify(trial.failure_reason)).toEqual(['COMPLETED', 1])
    return trial.log('artifacts/built')
  }

  it('are evicted least recently used first, never while in use', async () => {
    const [a, b, c] = [build('a', 4), build('b', 4), build('c', 4)]
    const ofA = await built(a)
    const ofB = await built(b)
    expect(await built(a)).toBe(ofA)
    expect(await cachedCount()).toBe(2)
    const ofC = await built(c)
    expect(await cachedCount()).toBe(2)
    expect(trials.logged.filter((message) => message.includes('is removed to make room'))).toEqual([
      expect.stringMatching(
        /^The environment built for .* \(4\.\d MiB\) is removed to make room: last used .*Z; cache size/,
      ),
    ])

    // A trial in `a`, the least recently used.
    const devboxCreated = Promise.withResolvers<string>()
    const solution = 'until [ -e /logs/agent/go ]; do sleep 0.1; done; cp /opt/a /logs/artifacts/built\n'
    const runningTrial = trials.run({ ...a, 'solution/solve.sh': solution }, { onDevbox: devboxCreated.resolve })
    const devboxId = await devboxCreated.promise
    expect(await built(b)).not.toBe(ofB)
    expect(await built(c)).not.toBe(ofC)
    expect(await cachedCount()).toBe(2)
    await expect.poll(() => existsSync(agentLogs(devboxId))).toBe(true)
    writeFileSync(join(agentLogs(devboxId), 'go'), '')
    expect((await runningTrial).log('artifacts/built')).toBe(ofA)
    expect(await built(a)).toBe(ofA)
  })

  it('are not stored if one alone exceeds the limit', async () => {
    const big = build('large', 12)
    const before = await cachedCount()
    expect(await built(big)).not.toBe(await built(big))
    expect(await cachedCount()).toBe(before)
    expect(trials.logged.at(-1)).toMatch(/\(12\.\d MiB\) is not cached: the limit is 10\.0 MiB$/)
  })
})

describe.skipIf(problem !== undefined)('a trial with its own system', () => {
  let trials: Trials
  beforeAll(() => {
    trials = startTrials()
  })
  afterAll(() => trials.close())

  it.concurrent.each(Object.entries(rows))('has %s', async (_, { files, warnings = [] }) => {
    const trial = await trials.run(files)
    const details = JSON.stringify([
      trial.failure_reason,
      trial.log('trial.log'),
      trial.log('verifier/test-stdout.txt'),
    ])
    expect([trial.state, trial.score], details).toEqual(['COMPLETED', 1])
    const found = trial.warnings.filter((warning) => !warning.startsWith('FROM '))
    expect(found).toEqual(warnings.map((each) => expect.stringMatching(each)))
    expect(trial.environment_differs).toBe(warnings.length > 0)
  })

  it('is built once per account, and no trial changes that of another', async () => {
    const files = {
      'environment/Dockerfile':
        'FROM debian\nWORKDIR /app\nRUN useradd -m joe && date +%s%N >/opt/built && touch /app/joe && chown joe /app/joe /opt/built && rm /usr/bin/tac\n',
      'solution/solve.sh':
        'cat /opt/built >/logs/artifacts/built; ls /opt/changed; touch /opt/changed; rm -rf /home/joe /app/joe; useradd ann\n',
      'tests/test.sh': rewardIf(
        '[ "$(stat -c %U /opt/built)" = joe ] && [ -e /opt/changed ] && [ ! -e /app/joe ] && [ ! -e /usr/bin/tac ] && [ "$(id -u ann)" = 1001 ]',
      ),
    }
    const built = new Set<string | undefined>()
    for (let i = 0; i < 3; i++) {
      const trial = await trials.run(files, { strictEnvironments: true })
      const details = JSON.stringify([trial.failure_reason, trial.log('trial.log'), trial.log('agent/oracle.txt')])
      expect([trial.score, trial.environment_differs], details).toEqual([1, false])
      expect(trial.log('agent/oracle.txt')).toMatch(/No such file or directory/)
      expect(trial.warnings).toEqual([expect.stringMatching(/^FROM debian: the task runs on [^,]+$/)])
      built.add(trial.log('artifacts/built'))
    }
    expect(built.size).toBe(1)
    const other = { ...files, 'environment/Dockerfile': `${files['environment/Dockerfile']}RUN true\n` }
    built.add((await trials.run(other)).log('artifacts/built'))
    expect(built.size).toBe(2)
    // An account may run commands in the devbox that builds.
    built.add((await trials.run(files, { account: 'other' })).log('artifacts/built'))
    expect(built.size).toBe(3)
    const [environments, devboxes] = ['environments', 'devboxes'].map((name) => join(trials.folder, name))
    const { removed } = await clearEnvironments(environments ?? '', devboxes ?? '', true)
    expect(removed.filter((name) => name.startsWith('environment-')).length).toBeGreaterThanOrEqual(2)
    expect((await trials.run(files)).score).toBe(1)
  })

  it('is built by one of several concurrent trials, or by the next if that one is canceled', async () => {
    const files = {
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\nRUN date +%s%N >/opt/built\n',
      'solution/solve.sh': 'cp /opt/built /logs/artifacts/built\n',
      'tests/test.sh': rewardIf('true'),
    }
    const begin = (own: typeof files, cancelsFirst: boolean) => {
      let made = 0
      return Promise.all(
        Array.from({ length: 4 }, async () => {
          const cancelled = new AbortController()
          const onDevbox = () => {
            if (++made === 1 && cancelsFirst) cancelled.abort()
          }
          const { state, log } = await trials.run(own, { onDevbox, signal: cancelled.signal })
          return { state, built: log('artifacts/built') }
        }),
      )
    }
    const together = await begin(files, false)
    expect(together.map(({ state }) => state)).toEqual(Array(4).fill('COMPLETED'))
    expect(new Set(together.map(({ built }) => built)).size).toBe(1)
    const changedFiles = { ...files, 'environment/Dockerfile': `${files['environment/Dockerfile']}RUN true\n` }
    const rest = await begin(changedFiles, true)
    expect(rest.map(({ state }) => state).sort()).toEqual(['CANCELED', 'COMPLETED', 'COMPLETED', 'COMPLETED'])
    const built = rest.filter(({ state }) => state === 'COMPLETED').map((trial) => trial.built)
    expect(new Set(built).size).toBe(1)
    expect(built[0]).not.toBe(together[0]?.built)
  })

  it('distinguishes a verifier or solution without its tools from a wrong answer', async () => {
    const files = {
      'environment/Dockerfile': 'FROM python\nWORKDIR /app\n',
      'tests/test.sh': `curl -LsSf https://no-such-host.invalid/install.sh | sh\nPATH=/bin uvx pytest\n${rewardIf('false')}`,
      'solution/solve.sh': 'PATH=/bin uvx --version\n',
    }
    const lacks = [expect.stringMatching(/^The verifier is missing a tool: .*line 2: uvx: command not found$/)]
    const solved = await trials.run(files)
    expect([solved.score, solved.environment_differs]).toEqual([0, true])
    expect(solved.warnings.slice(1)).toEqual([
      ...lacks,
      expect.stringMatching(/^The solution is missing a tool: .*line 1: uvx: command not found$/),
    ])
    const strict = await trials.run(files, { agentIs: { name: 'nop' }, strictEnvironments: true })
    expect(strict.warnings.slice(1)).toEqual(lacks)
    expect([strict.score, strict.failure_reason?.exception_type]).toEqual([null, 'EnvironmentDiffersError'])
    const wrong = await trials.run({ ...files, 'tests/test.sh': rewardIf('./no-such-tool') })
    expect(wrong.warnings.filter((each) => each.includes('The verifier'))).toEqual([])
    const right = await trials.run({ ...files, 'tests/test.sh': `PATH=/bin uvx\n${rewardIf('true')}` })
    expect([right.score, right.environment_differs]).toEqual([1, false])
  })

  it('warns of setuid programs', async () => {
    const files = (user: string) => ({
      'environment/Dockerfile': `FROM debian
RUN cp /bin/cat /usr/local/bin/open && chmod 4755 /usr/local/bin/open && echo secret >/only && chmod 600 /only
USER ${user}
`,
      'solution/solve.sh': 'open /only >/tmp/said\n',
      'tests/test.sh': rewardIf('[ -s /tmp/said ]'),
    })
    const other = await trials.run(files('nobody'))
    expect([other.score, other.environment_differs]).toEqual([0, true])
    expect(other.warnings.at(-1)).toMatch(/^The image has setuid programs/)
    const root = await trials.run(files('root'))
    expect([root.score, root.environment_differs]).toEqual([1, false])
  })

  it('uses the image a task names, as Harbor does, or its Dockerfile if that cannot be fetched', async () => {
    const image = 'ghcr.io/example/solved:2026'
    const files = (docker_image: string) => ({
      'task.toml': `version = "1.0"\n[environment]\ndocker_image = "${docker_image}"\n`,
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\nRUN touch /built\n',
      'solution/solve.sh': '',
      'tests/test.sh': rewardIf('[ -e /built ] && [ "$PWD" = /app ]'),
    })
    const replaced = await trials.run(files(image))
    expect([replaced.score, replaced.environment_differs]).toEqual([1, true])
    const sentence = `The image ${image} cannot be fetched, so the Dockerfile is built instead`
    expect(replaced.warnings).toContain(sentence)
    const strict = await trials.run(files(image), { strictEnvironments: true })
    expect(strict.failure_reason?.exception_message).toContain(sentence)
    const forced = { settings: { ...settings, environment: { ...settings.environment, forceBuild: true } } }
    const rebuilt = await trials.run(files(image), forced)
    expect([rebuilt.score, rebuilt.environment_differs]).toEqual([1, false])
    const plain = await trials.run(files('debian:bookworm'))
    expect([plain.score, plain.environment_differs]).toEqual([0, false])
    expect((await trials.run(files('debian:bookworm'), forced)).score).toBe(1)
    const uploaded = await trials.run({
      ...files(''),
      'environment/Dockerfile': null,
      'task.toml': '[environment]\ndocker_image = "debian:bookworm"\nworkdir = "/app"\n',
      'environment/data/input': 'files of a task without a Dockerfile',
      'tests/test.sh': rewardIf('[ -s data/input ] && [ "$PWD" = /app ]'),
    })
    expect([uploaded.score, uploaded.environment_differs]).toEqual([1, false])
  })

  it('names the line of a failed RUN and of an unknown user', async () => {
    const build = (text: string) => trials.run({ 'environment/Dockerfile': text, 'tests/test.sh': rewardIf('true') })
    expect(
      (await build('FROM debian\nRUN curl -sf http://no-such-host.invalid/x -o /x\n')).failure_reason,
    ).toMatchObject({
      exception_type: 'SandboxBuildFailedError',
      exception_message: expect.stringMatching(/^Dockerfile line 2: RUN curl .* failed with exit code \d+/),
    })
    const folders = readdirSync(join(trials.folder, 'devboxes'))
    expect(folders.filter((id) => existsSync(join(trials.folder, 'devboxes', id, 'root')))).toEqual([])
    expect((await build('FROM debian\nUSER nobody-here\nRUN true\n')).failure_reason?.exception_message).toMatch(
      /^Dockerfile line 3: RUN true failed with exit code 126: unable to find user nobody-here/,
    )
  })
})
