// Runs inside every script runtime before the scripts: calls them over columns of objects, so
// that a whole page crosses into the engine once. `state.at` is the row a script was called for,
// which is how an error learns its key. Built-ins are taken before any script can change them.
(function () {
  "use strict";
  const { Array, Date, JSON, Object, Promise, RegExp, String, TypeError } = globalThis;
  const kindOf = Function.prototype.call.bind(Object.prototype.toString);
  const wellFormed = Function.prototype.call.bind(String.prototype.toWellFormed);
  const test = Function.prototype.call.bind(RegExp.prototype.test);
  const { isArray } = Array;
  const { stringify } = JSON;
  const join = Function.prototype.call.bind(Array.prototype.join);
  const toArray = Function.prototype.call.bind(Array.prototype.map);
  // Not by a method of the array: a script may have replaced it.
  const add = (list, value) => { list[list.length] = value; };
  const state = { at: -1, some: false, total: undefined, lines: [], json: false };
  const roles = Object.create(null);

  const item = (columns, i) => ({
    Key: columns.keys[i],
    LastModified: new Date(columns.times[i]),
    ETag: columns.etags[i],
    Size: columns.sizes[i],
    StorageClass: columns.classes[i],
  });

  const notAFunction = (what) => {
    const error = new TypeError(what);
    error.isNotAFunction = true;
    return error;
  };

  const badResult = (role, what) => {
    const error = new TypeError(what);
    error.isResult = true;
    error.role = role;
    return error;
  };

  // How a script of a role is called for a row.
  const caller = (user, prefersObject, takesPattern) => {
    if (user instanceof RegExp) {
      if (!takesPattern) throw notAFunction("a pattern selects keys, here a function is needed");
      return (columns, i) => {
        user.lastIndex = 0;
        return test(user, columns.keys[i]);
      };
    }
    if (prefersObject) {
      if (user.length === 1) return (columns, i) => user(item(columns, i));
      return (columns, i) => user(columns.keys[i], item(columns, i));
    }
    if (user.length === 1) return (columns, i) => user(columns.names[i]);
    return (columns, i) => user(columns.names[i], item(columns, i));
  };

  const check = (user) => {
    if (user instanceof RegExp) return;
    if (typeof user !== "function") throw notAFunction(`this is ${describe(user)}, not a function`);
    const kind = kindOf(user);
    if (kind !== "[object Function]") {
      throw notAFunction("async functions and generators cannot be used: write a plain function");
    }
  };

  const describe = (value) => {
    if (value === null) return "null";
    if (isArray(value)) return "an array";
    const type = typeof value;
    return (type === "object" ? "an " : type === "undefined" ? "" : "a ") + type;
  };

  const settled = (role, value) => {
    if (value instanceof Promise) {
      throw badResult(role, "it returned a promise: nothing here can wait");
    }
    return value;
  };

  const chosen = (columns, i) =>
    roles.filter === undefined || !!settled("filter", roles.filter(columns, i));

  // Calls `take` for each row that the filter selects.
  const walk = (columns, take) => {
    const count = columns.keys.length;
    for (let i = 0; i < count; i++) {
      state.at = i;
      if (chosen(columns, i)) take(i);
    }
    state.at = -1;
  };

  // A value as a line; nothing for null and undefined. With `json` texts are quoted, too.
  const line = (value, json) => {
    switch (typeof value) {
      case "undefined":
        return undefined;
      case "string":
        return json ? stringify(value) : value;
      case "number":
        // JSON has neither NaN nor Infinity: they become null.
        return json ? stringify(value) : String(value);
      case "bigint":
        return String(value);
      default:
        return value === null ? undefined : stringify(value);
    }
  };

  // Halves of characters, which no output can hold, are replaced.
  const push = (text) => { add(state.lines, wellFormed(text)); };

  const print = (role, value, json) => {
    const text = line(settled(role, value), json);
    if (text !== undefined) push(text);
  };

  const shown = (value) => {
    if (typeof value === "function" || typeof value === "symbol") return String(value);
    if (value instanceof Error) return String(value);
    return value === undefined || value === null ? String(value) : line(value, false);
  };

  const lines = () => {
    const lines = state.lines;
    state.lines = [];
    return lines;
  };

  const collect = (value) => {
    if (value === undefined || value === null) return;
    if (!isArray(value)) return add(state.total, value);
    for (let i = 0; i < value.length; i++) collect(value[i]);
  };

  const mapped = (columns, i) =>
    roles.map === undefined ? item(columns, i) : settled("map", roles.map(columns, i));

  const fold = (value) => {
    if (roles.reduce === undefined) {
      if (!state.some) state.total = [];
      collect(value);
    } else {
      state.total = state.some ? settled("reduce", roles.reduce(state.total, value)) : value;
    }
    state.some = true;
  };

  const logged = (values) => {
    const text = () => join(toArray(values, shown), " ");
    if (!state.json) return text();
    // JSON would lose errors, functions and symbols: they are logged as text.
    const isShown = (value) =>
      value instanceof Error || typeof value === "function" || typeof value === "symbol";
    if (values.length !== 1 || isShown(values[0])) return stringify(text());
    const alone = line(values[0], true);
    return alone === undefined ? "null" : alone;
  };

  const console = { log: (...values) => { push(logged(values)); } };

  return {
    state,
    load(role, user, prefersObject, takesPattern, takesRows) {
      check(user);
      roles[role] = takesRows ? caller(user, prefersObject, takesPattern) : user;
      if (role === "each" || role === "map-list") globalThis.console = console;
      if (role === "map-list") return true;
      return takesRows && !(user instanceof RegExp) && (prefersObject || user.length !== 1);
    },
    select(columns) {
      const selected = [];
      walk(columns, (i) => { add(selected, i); });
      return selected;
    },
    rename(columns) {
      const names = [];
      for (let i = 0; i < columns.keys.length; i++) add(names, null);
      walk(columns, (i) => {
        const name = settled("to-key", roles["to-key"](columns, i));
        if (name === undefined || name === null || name === false) return;
        if (name === "") throw badResult("to-key", "it returned an empty key");
        if (typeof name !== "string") {
          throw badResult("to-key", `it returned ${describe(name)}, not the new key as a string`);
        }
        names[i] = name;
      });
      return names;
    },
    map(columns, json) {
      walk(columns, (i) => {
        print("map", mapped(columns, i), json);
      });
      return lines();
    },
    each(columns, json) {
      state.json = json;
      walk(columns, (i) => { print("each", roles.each(columns, i), json); });
      return lines();
    },
    eachList(columns, json) {
      state.json = json;
      const items = [];
      walk(columns, (i) => { add(items, item(columns, i)); });
      if (items.length > 0) print("map-list", roles["map-list"](items), json);
      return lines();
    },
    fold(columns) {
      walk(columns, (i) => {
        fold(mapped(columns, i));
      });
    },
    finish(json) {
      if (!state.some) return [];
      const total = state.total;
      print("finally", roles.finally === undefined ? total : roles.finally(total), json);
      return lines();
    },
  };
})()
