// What the npm client's REST part reads from our server, as one line of JSON.
//     node client_rest.js FOLDER-OF-THE-PACKAGE PROFILE
'use strict';
const fs = require('fs');
const [folder, profile] = process.argv.slice(2);
const { DataSharingRestClient } = require(folder + '/rest-client.js');
const { DeltaSharingProfile, Share, Schema, Table } = require(folder + '/protocol.js');

async function main() {
  const client = new DataSharingRestClient(DeltaSharingProfile.fromJson(fs.readFileSync(profile, 'utf8')));
  const table = new Table('part', 'share1', 's');
  const about = await client.queryTableMetadataAsync(table);
  const listed = await client.listFilesInTable(table, ["d = '2021-04-29'"], 3);
  const refused = await client.listFilesInTable(new Table('nowhere', 'share1', 's')).catch((error) => error.response.status);
  console.log(JSON.stringify({
    shares: (await client.listSharesAsync()).shares.map((each) => each.shareName),
    schemas: (await client.listSchemasAsync(new Share('share1'))).schemas.map((each) => each.schemaName),
    tables: (await client.listTablesAsync(new Schema('s', 'share1'))).tables.map((each) => each.tableName),
    all: (await client.listAllTablesAsync(new Share('share1'))).tables.length,
    partitions: about.metadata.partitionColumns,
    reader: about.protocol.minReaderVersion,
    files: listed.addFiles.map((each) => [each.partitionValues, each.size, each.url]),
    refused,
  }));
}

main();
