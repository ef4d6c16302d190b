import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { readParams, splitStatements, withStatement } from './sql-statements.ts'

const trigger = `CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN
  UPDATE a SET x = CASE WHEN x > 1 THEN 2 ELSE 3 END;
  SELECT ';';
END`

describe('splitStatements', () => {
  it.each([
    ['one', 'SELECT 1', ['SELECT 1']],
    ['several, with and without an end', ' SELECT 1 ;\nSELECT 2;;', ['SELECT 1', 'SELECT 2']],
    ['nothing', ' ; -- only a comment;\n/* ; */', []],
    ['semicolons in text', `SELECT 'a;''b'; SELECT ";", \`;\`, [;]`, [`SELECT 'a;''b'`, 'SELECT ";", `;`, [;]']],
    ['comments', 'SELECT 1 -- one; two\n; /* ; */ SELECT 2', ['SELECT 1 -- one; two', '/* ; */ SELECT 2']],
    ['a trigger', `${trigger};SELECT 1`, [trigger, 'SELECT 1']],
    [
      'a transaction',
      'BEGIN; SELECT CASE 1 WHEN 1 THEN 2 END; END',
      ['BEGIN', 'SELECT CASE 1 WHEN 1 THEN 2 END', 'END'],
    ],
    ['text without an end', `SELECT 'a; SELECT 2`, [`SELECT 'a; SELECT 2`]],
  ])('splits %s', (_, text, statements) => {
    expect(splitStatements(text).map(({ sql }) => sql)).toEqual(statements)
  })

  it('reports the line of each statement', () => {
    expect(splitStatements('SELECT 1;\n\n  SELECT 2;\nSELECT 3').map(({ line }) => line)).toEqual([1, 3, 4])
  })

  it('produces statements that SQLite accepts', () => {
    const database = new DatabaseSync(':memory:')
    for (const { sql } of splitStatements(`CREATE TABLE a (x); ${trigger}; INSERT INTO a VALUES (5); -- end`))
      database.prepare(sql).run()
    expect(database.prepare('SELECT x FROM a').all()).toEqual([{ x: 2 }])
  })
})

describe('readParams', () => {
  it('reads a JSON array; empty means none', () => {
    expect(readParams(' ')).toEqual({ ok: true, params: [] })
    expect(readParams('[1, "a", null]')).toEqual({ ok: true, params: [1, 'a', null] })
  })

  it.each(['{"a":1}', '1', 'a, b'])('rejects %s', (text) => {
    expect(readParams(text)).toMatchObject({ ok: false, message: expect.stringContaining('JSON array') })
  })
})

it('appends a statement after a separator', () => {
  expect(withStatement(' \n', 'SELECT 1')).toBe('SELECT 1')
  for (const before of ['SELECT 0', 'SELECT 0;', 'SELECT 0\n', 'SELECT 0 -- why'])
    expect(splitStatements(withStatement(before, 'SELECT 1')).map(({ sql }) => sql.slice(0, 8))).toEqual([
      'SELECT 0',
      'SELECT 1',
    ])
})
