export const isRootFolder = (name: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) && !systemFolders.includes(name)

const systemFolders = [
  ...['bin', 'boot', 'dev', 'etc', 'home', 'lib', 'lib32', 'lib64', 'libx32', 'proc', 'run', 'sbin', 'sys'],
  ...['tmp', 'usr', 'var'],
]
