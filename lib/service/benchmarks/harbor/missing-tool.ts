/** Programs that images have or scripts install, and that no task asks to write. */
const tools = [
  ...['python', 'python3', 'pip', 'pip3', 'pytest', 'py.test', 'uv', 'uvx', 'pipx', 'poetry', 'conda'],
  ...['node', 'npm', 'npx', 'pnpm', 'yarn', 'bun', 'deno', 'tsc', 'go', 'cargo', 'rustc', 'gcc', 'g++', 'cc', 'clang'],
  ...['make', 'cmake', 'java', 'javac', 'mvn', 'gradle', 'ruby', 'gem', 'bundle', 'perl', 'php', 'R', 'Rscript'],
  ...['julia', 'ghc', 'cabal', 'stack', 'lean', 'lake', 'dotnet', 'curl', 'wget', 'git', 'jq', 'yq', 'tmux', 'expect'],
  ...['sqlite3', 'psql', 'mysql', 'redis-cli', 'redis-server', 'nginx', 'apt', 'apt-get', 'apk', 'dnf', 'yum', 'sudo'],
  ...['zip', 'unzip', 'bc', 'file', 'lsof', 'nc', 'socat', 'openssl', 'ffmpeg', 'strings', 'nm', 'objdump', 'gdb'],
  ...['valgrind', 'ps', 'pkill', 'killall', 'ss', 'netstat', 'docker'],
]
const tool = `(?:${tools.map((name) => name.replace(/[.+]/g, '\\$&')).join('|')})`

const missing = [
  new RegExp(`: (?:line )?\\d+: ${tool}: (?:command )?not found$`),
  new RegExp(`^(?:\\S*/)?env: .${tool}.: No such file or directory$`),
  new RegExp(`No such file or directory: '${tool}'$`),
  /^\S*python[\d.]*: No module named (?:pytest|pip|uv|venv|ensurepip|coverage|poetry|tox)$/,
  // setuid has no effect in a devbox.
  /^sudo: .*(?:nosuid|no new privileges)/,
  /(?:^|^Password: |^Current password: )(?:su|chsh: PAM|passwd): Authentication (?:failure|token manipulation error)$/,
  // A pytest plugin is missing.
  /(?:pytest|__main__\.py): error: unrecognized arguments: -/,
]

const unreachable = [
  /Could not resolve (?:host|proxy)|unable to resolve host address|Temporary failure (?:in name resolution|resolving)/,
  /Name or service not known|Network is unreachable|NameResolutionError|dns error|\b(?:ENOTFOUND|EAI_AGAIN)\b/,
  /dial tcp: lookup|^curl: \((?:7|28)\) Failed to connect to|CONNECT tunnel failed/,
  /^E: (?:Failed to fetch|Unable to locate package|Package '?\S+'? has no installation candidate)/,
  /No matching distribution found for|Could not find a version that satisfies the requirement/,
  /^(?:error: |\s*[×╰╭├]\S* )(?:Request failed after|Failed to (?:fetch|download))/,
]
// A retry may succeed, and local servers belong to the task.
const ignoredLine = /^WARNING: Retrying|\b(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0)\b|\[?::1\b/

// Linear time: Node's own takes minutes for a crafted mebibyte.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapes = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]/g

/** Finds the line of an output that reports a missing common program, or with a network, an unreachable host. */
export const missingToolIn = (output: string, hasNetwork: boolean): string | undefined =>
  output
    .replace(escapes, '')
    .split(/[\r\n]+/)
    .map((line) => line.trimEnd())
    .find(
      (line) =>
        missing.some((each) => each.test(line)) ||
        (hasNetwork && !ignoredLine.test(line) && unreachable.some((each) => each.test(line))),
    )
    ?.trim()
    .slice(0, maxLineLength)

const maxLineLength = 200
