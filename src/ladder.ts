/** What `import … from 'statecast/ladder'` offers: workflows, and what is built of them. */
export * from './ladder/index.ts'
