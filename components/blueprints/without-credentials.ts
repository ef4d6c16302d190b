/** Hides tokens of code mounts and passwords of services, since JSON gets pasted into tickets. */
export const withoutCredentials = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value, (key, each) => (/^(token|password)$/.test(key) && each != null ? '(hidden)' : each)))
