import { execFileSync, spawnSync } from 'node:child_process'

/** Why samples in Python can't be run here, if so. */
export const pythonRefusal: string | null =
  spawnSync('python3', ['--version']).status === 0 ? null : 'python3 is not installed'

/** Stands in for the public client, which is no npm package: prints each call that a sample makes, as JSON. */
const recorder = `
import json, sys, types
class Result:
    id = name = "result"
    def __iter__(self): return iter(())
    def __getattr__(self, name): return self
class Method:
    def __init__(self, path): self.path = path
    def __getattr__(self, name): return Method(self.path + [name])
    def __call__(self, *values, **named):
        print(json.dumps({"method": ".".join(self.path), "values": values, "named": named}))
        return Result()
class Runloop(Method):
    def __init__(self, **options): super().__init__([])
module = types.ModuleType("runloop_api_client")
module.Runloop = Runloop
sys.modules["runloop_api_client"] = module
exec(compile(sys.stdin.read(), "sample", "exec"), {})
`

export interface PythonCall {
  method: string
  values: unknown[]
  named: Record<string, unknown>
}

/** Runs a sample and returns its first call of the client. */
export const callInPython = (sample: string): PythonCall => {
  const output = execFileSync('python3', ['-c', recorder], {
    input: sample,
    encoding: 'utf8',
    env: { ...process.env, DEVDECK_API_KEY: 'key', PYTHONIOENCODING: 'utf8' },
  })
  return JSON.parse(output.split('\n')[0] ?? '')
}
