import assert from "node:assert/strict";
import { test } from "node:test";
import { printModel } from "../../src/model/schema/print.ts";
import { readSmall } from "./smallModel.ts";

test("the printed model shows the source, table, loader, shard and writes of each field", () => {
	assert.equal(
		printModel(readSmall().model),
		`type Pin: number 1, rows in pins, each on the shard in its id
  field      source                                          table               loader   shard        writes
  id         its id                                          pins                -        its own      -
  details    stored details                                  pins                objects  its own      row
  width      stored width = 1                                pins                objects  its own      row
  createdAt  stored created_at = "1970-01-01T00:00:00.000Z"  pins                objects  its own      row
  mood       stored mood                                     pins                objects  its own      row
  image      stored image                                    pins                objects  its own      row
  owner      reference user_id to User                       users               objects  of the User  row; ownPin: edge and list row in user_has_pins on the shard of the User
  likedBy    mapping likePin.inverse to User, newest first   pin_liked_by_users  pages    its own      inverse of likePin

type User: number 3, rows in users, each on the shard in its id
  field     source                                table            loader    shard    writes
  id        its id                                users            -         its own  -
  username  stored username = ""                  users            objects   its own  row; lookup username on its mod shard
  email     resolver, stored email                users            resolver  its own  row; lookup email on its mod shard
  isViewer  resolver                              -                resolver  -        -
  likes     mapping likePin to Pin, newest first  user_likes_pins  pages     its own  edge and list row; likePin.inverse: edge and list row in pin_liked_by_users on the shard of the Pin
  pins      mapping ownPin to Pin, by position    user_has_pins    pages     its own  derived from Pin.owner

type Query: where operations start
  field    source                                table          loader    shard  writes
  user     resolver                              -              resolver  -      -
  allPins  mapping listPin to Pin, newest first  root_has_pins  pages     0      edge and list row
  node     resolver                              -              resolver  -      -
  nodes    resolver                              -              resolver  -      -

type Mutation: where operations start
  field    source    table  loader    shard  writes
  likePin  resolver  -      resolver  -      -

lookups: each key on the mod shard md5(key) mod their number
  lookup    finds by       key       compared
  username  User.username  username  without regard to case
  email     User.email     email     as it is

other types
  type            part of a       fields
  LikePinPayload  parent's value  pin
  Image           parent's value  url alt
  PageInfo        parent's value  hasNextPage hasPreviousPage startCursor endCursor
  PinConnection   page            edges nodes pageInfo totalCount
  PinEdge         edge            node cursor at
  UserConnection  page            edges nodes pageInfo totalCount
  UserEdge        edge            node cursor at
`,
	);
});

test("the printed model says by which field a list is ordered, and that a change of the field writes the list", () => {
	const printed = printModel(
		readSmall([
			["\tat: DateTime!\n}\ntype UserConnection", "}\ntype UserConnection"],
			["order: POSITION)", 'order: HIGHEST_FIRST, orderBy: "width")'],
		]).model,
	);
	assert.match(printed, /mapping ownPin to Pin, by width, highest first {2}/);
	assert.match(
		printed,
		/stored width = 1 .* row; ownPin: edge in user_has_pins on the shard of the User\n/,
	);
	assert.doesNotMatch(printed, /stored details .*ownPin/);
});
