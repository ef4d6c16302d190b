import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Files = Record<string, string>

interface DockerTask {
  files: Files
  /** The reward that Harbor gives its solution, or the exception. */
  expected: number | string
}

/** A task whose solution passes if Docker builds and runs its environment as written. */
export const dockerTask = (dockerfile: string, solution: string, test: string, more: Files = {}): DockerTask => ({
  files: {
    'task.toml': 'schema_version = "1.4"\n',
    'instruction.md': 'Do it.\n',
    'environment/Dockerfile': dockerfile,
    'solution/solve.sh': `#!/bin/bash\n${solution}\n`,
    'tests/test.sh': `#!/bin/bash\nif ${test}; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n`,
    ...more,
  },
  expected: 1,
})

const failing = (exception: string, made: DockerTask): DockerTask => ({ ...made, expected: exception })
const withoutDockerfile = ({ files: { 'environment/Dockerfile': _, ...files }, ...rest }: DockerTask): DockerTask => ({
  ...rest,
  files,
})

/** Environments that only a container engine can provide. All are based on the test image `base`. */
export const dockerTasks: Record<string, DockerTask> = {
  user: dockerTask(
    'FROM base\nRUN useradd -m -u 1234 app\nUSER app\nWORKDIR /home/app\n',
    'id -un >who',
    '[ "$(cat /home/app/who) $(id -u) $HOME" = "app 1234 /home/app" ]',
  ),
  'user-with-group': dockerTask(
    'FROM base\nRUN groupadd -g 77 staff2 && mkdir /data && chown 55:77 /data\nUSER 55:77\nWORKDIR /data\n',
    'id >ids',
    'grep -q "^uid=55 gid=77(staff2)" /data/ids',
  ),
  'agent-user': dockerTask(
    'FROM base\nRUN useradd -m solver && mkdir /app && chmod 777 /app\nWORKDIR /app\n',
    'id -un >who; touch /etc/changed 2>/dev/null; true',
    '[ "$(cat /app/who) $(id -un)" = "solver root" ] && [ ! -e /etc/changed ]',
    { 'task.toml': '[agent]\nuser = "solver"\n' },
  ),
  'root-tests': dockerTask(
    'FROM base\nRUN useradd -m app && mkdir -m 700 /secret && echo 42 >/secret/answer\nUSER app\n',
    'cat /secret/answer >~/seen 2>/dev/null; true',
    '[ "$(cat /secret/answer)" = 42 ] && [ ! -s /home/app/seen ]',
    { 'task.toml': '[verifier]\nuser = "root"\n' },
  ),
  entrypoint: dockerTask(
    'FROM base\nCOPY entry.sh /entry.sh\nRUN chmod +x /entry.sh\nENTRYPOINT ["/entry.sh"]\nCMD ["ignored"]\n',
    'cat /started >/copy',
    '[ "$(cat /copy)" = "sh -c sleep infinity" ]',
    { 'environment/entry.sh': '#!/bin/sh\necho "$@" >/started\nexec "$@"\n' },
  ),
  daemon: dockerTask(
    'FROM base\nCOPY serve.sh /serve.sh\nENTRYPOINT ["sh", "/serve.sh"]\n',
    'cat /tmp/served >/answer',
    'grep -q "^served" /answer',
    { 'environment/serve.sh': 'while :; do echo served >>/tmp/served; sleep 0.1; done\n' },
  ),
  workdir: dockerTask(
    'FROM base\nWORKDIR /srv\nWORKDIR app\n',
    'pwd >/where',
    '[ "$(cat /where) $(pwd)" = "/srv/app /srv/app" ]',
  ),
  healthcheck: dockerTask(
    'FROM base\nHEALTHCHECK --interval=200ms --timeout=2s --retries=50 CMD test -e /ready\nENTRYPOINT ["sh", "-c", "sleep 1; touch /ready; exec \\"$@\\"", "entry"]\n',
    'if [ -e /ready ]; then touch /was-ready; fi',
    '[ -e /was-ready ]',
  ),
  unhealthy: failing(
    'SandboxBuildFailedError',
    dockerTask('FROM base\nHEALTHCHECK --interval=100ms --timeout=1s --retries=2 CMD false\n', 'true', 'true'),
  ),
  'task-healthcheck': failing(
    'HealthcheckError',
    dockerTask('FROM base\n', 'true', 'true', {
      'task.toml': '[environment.healthcheck]\ncommand = "false"\ninterval_sec = 0.1\nretries = 2\n',
    }),
  ),
  env: dockerTask(
    'FROM base\nENV ONE=1 PATH=/opt/tools:$PATH\nENV TWO=$ONE-2\nRUN mkdir -p /opt/tools && printf "#!/bin/sh\\necho tool" >/opt/tools/tool && chmod +x /opt/tools/tool\n',
    'echo "$ONE $TWO $THREE $(tool)" >/seen',
    '[ "$(cat /seen)" = "1 1-2 3 tool" ]',
    { 'task.toml': '[environment.env]\nTHREE = "3"\n' },
  ),
  arg: dockerTask(
    'ARG BASE=base\nFROM $BASE\nARG COLOR=red\nRUN echo $COLOR >/color\n',
    `echo "\${COLOR-unset}" >/at-run`,
    '[ "$(cat /color /at-run | tr "\\n" " ")" = "red unset " ]',
  ),
  heredocs: dockerTask(
    '# syntax=docker/dockerfile:1\nFROM base\nRUN <<EOF\necho one >/one\nEOF\nCOPY <<run.sh /app/\necho two\nrun.sh\n',
    'true',
    '[ "$(cat /one; sh /app/run.sh)" = "$(printf "one\ntwo")" ]',
  ),
  stages: dockerTask(
    'FROM base AS build\nRUN echo built >/artifact\nFROM base\nCOPY --from=build /artifact /app/artifact\n',
    'true',
    '[ "$(cat /app/artifact)" = built ] && [ ! -e /artifact ]',
  ),
  dockerignore: dockerTask(
    'FROM base\nCOPY . /src\n',
    'ls -A /src >/seen',
    '[ "$(tr "\\n" " " </seen)" = ".dockerignore Dockerfile kept.md " ]',
    {
      'environment/.dockerignore': '*.key\n*.md\n!kept.md\nbuild\n',
      'environment/secret.key': 'secret',
      'environment/left.md': 'left',
      'environment/kept.md': 'kept',
      'environment/build/out': 'out',
    },
  ),
  'copy-chown': dockerTask(
    'FROM base\nRUN useradd -u 1500 app\nCOPY --chown=app:app data /data\n',
    'true',
    '[ "$(stat -c %U:%g /data/file)" = app:1500 ]',
    { 'environment/data/file': 'x' },
  ),
  'no-network': dockerTask('FROM base\n', 'ls /sys/class/net >/nets', '[ "$(cat /nets)" = lo ]', {
    'task.toml': '[environment]\nallow_internet = false\n',
  }),
  'network-by-phase': dockerTask(
    'FROM base\n',
    'ls /sys/class/net >/nets',
    '[ "$(cat /nets)" = lo ] && ls /sys/class/net | grep -q eth',
    { 'task.toml': '[agent]\nnetwork_mode = "no-network"\n' },
  ),
  'network-of-agent': dockerTask(
    'FROM base\n',
    'ls /sys/class/net >/nets; timeout 2 bash -c "exec 3<>/dev/tcp/10.255.255.1/80"; echo $? >/private',
    'grep -q eth /nets && [ "$(ls /sys/class/net) $(cat /private)" = "lo 1" ]',
    { 'task.toml': '[environment]\nnetwork_mode = "no-network"\n[agent]\nnetwork_mode = "public"\n' },
  ),
  'network-of-agent-beside-a-service': dockerTask(
    'FROM base\n',
    'ls /sys/class/net >/nets',
    'grep -q eth /nets && [ "$(ls /sys/class/net)" = lo ]',
    {
      'task.toml': '[environment]\nnetwork_mode = "no-network"\n[agent]\nnetwork_mode = "public"\n',
      'environment/docker-compose.yaml': 'services: { beside: { image: base, command: sleep infinity } }\n',
    },
  ),
  memory: dockerTask(
    'FROM base\n',
    'python3 -c "bytearray(400 << 20)"; echo $? >/status',
    '[ "$(cat /status)" = 137 ]',
    {
      'task.toml': '[environment]\nmemory_mb = 200\n',
    },
  ),
  'without-python': dockerTask(
    'FROM base\nRUN rm -f /usr/bin/python3*\n',
    'command -v python3 >/found; true',
    '[ ! -s /found ] && ! command -v python3',
  ),
  'without-bash': failing(
    'RewardFileNotFoundError',
    dockerTask('FROM base\nRUN rm -f /bin/bash /usr/bin/bash\n', 'true', 'true'),
  ),
  image: dockerTask('FROM base\nRUN exit 1\n', 'touch /app-ready', '[ -e /app-ready ]', {
    'task.toml': '[environment]\ndocker_image = "base"\n',
  }),
  'own-tests': dockerTask(
    'FROM base\nRUN mkdir /tests && echo 7 >/tests/expected\n',
    'echo 7 >/answer',
    'cmp -s /answer /tests/expected',
  ),
  'build-fails': failing('SandboxBuildFailedError', dockerTask('FROM base\nRUN exit 3\n', 'true', 'true')),
  'separate-verifier': dockerTask(
    'FROM base\nWORKDIR /app\n',
    'echo 5 >/logs/artifacts/five; echo 6 >/app/six',
    '[ "$(cat /logs/artifacts/five /app/six /only-here | tr "\\n" " ")" = "5 6 7 " ]',
    {
      'task.toml': 'artifacts = ["/app/six"]\n[verifier]\nenvironment_mode = "separate"\n',
      'tests/Dockerfile':
        'FROM base\nRUN echo 7 >/only-here && mkdir /app\nCOPY . /tests\nRUN chmod +x /tests/test.sh\n',
    },
  ),
  sidecar: dockerTask(
    'FROM base\n',
    'exec 3<>/dev/tcp/db/5432 && cat <&3 >/answer',
    '[ "$(cat /answer)" = "row of app" ]',
    {
      'environment/docker-compose.yaml': `services:
  main:
    depends_on: { db: { condition: service_healthy } }
  db:
    build: { context: ./db, args: { OWNER: app } }
    expose: [5432]
    healthcheck: { test: "test -e /ready", interval: 200ms, retries: 50 }
`,
      'environment/db/Dockerfile':
        'FROM base\nARG OWNER\nRUN echo "row of $OWNER" >/row\nCOPY server.py /\nCMD ["python3", "/server.py"]\n',
      'environment/db/server.py': `import socket, pathlib
server = socket.create_server(("", 5432))
pathlib.Path("/ready").touch()
while True:
    client, _ = server.accept()
    client.sendall(open("/row", "rb").read())
    client.close()
`,
    },
  ),
  'shared-volume': withoutDockerfile(
    dockerTask(
      '',
      'until [ -s /shared/out ]; do sleep 0.05; done; cat /shared/out >/answer',
      '[ "$(cat /answer)" = "hello from worker: token, settings" ] && [ "$(cat /conf/a)" = settings ]',
      {
        'task.toml': '[environment]\ndocker_image = "base"\n[environment.env]\nTOKEN = "token"\n',
        'environment/conf/a': 'settings',
        'environment/docker-compose.yaml': `services:
  main:
    volumes: ["work:/shared", "./conf:/conf:ro"]
  worker:
    image: base
    environment: { WORD: "\${TOKEN:-none}" }
    command: ["sh", "-c", "echo hello from $$(hostname): $$WORD, $$(cat /conf/a) >/shared/out; sleep infinity"]
    hostname: worker
    volumes: ["work:/shared", "./conf:/conf:ro"]
volumes: { work: {} }
`,
      },
    ),
  ),
  privileged: failing(
    'InvalidTaskError',
    dockerTask('FROM base\n', 'true', 'true', {
      'environment/docker-compose.yaml': 'services: { main: { privileged: true } }\n',
    }),
  ),
}

export const writeDockerTask = (folder: string, { files }: DockerTask): void => {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    if (name.endsWith('.sh')) chmodSync(file, 0o755)
  }
}
