//! C++ of generated programs: exceptions through frames with destructors, virtual calls, lambdas,
//! templates, thread-local objects and the standard containers. The output does not depend on
//! implementation details of the library.

use super::{Gen, Ty};

/// The start of every C++ program, after the C prelude.
pub(super) const PRELUDE: &str = r#"#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Guard { u64 v; explicit Guard(u64 x) : v(x) { trail(v + 1); } Guard(const Guard &g) : v(g.v + 1) { trail(v + 2); } ~Guard() { trail(v + 3); } };
struct Quiet { u64 v; explicit Quiet(u64 x = 0) : v(x) {} Quiet(const Quiet &g) : v(g.v * 3 + 1) {} ~Quiet() { v = 0; } };
struct Base { u64 v; explicit Base(u64 x) : v(x) {} virtual ~Base() {} virtual u64 turn(u64 x) const { return x + v; } };
struct Left : virtual Base { explicit Left(u64 x) : Base(x) {} u64 turn(u64 x) const override { return x * 3 ^ v; } };
struct Right : virtual Base { explicit Right(u64 x) : Base(x) {} u64 turn(u64 x) const override { return x - v; } };
struct Both final : Left, Right { explicit Both(u64 x) : Base(x), Left(x), Right(x) {} u64 turn(u64 x) const override { return Left::turn(x) + Right::turn(x); } };
struct Failure : std::runtime_error { u64 code; explicit Failure(u64 c) : std::runtime_error("failure"), code(c) {} };
template <typename T, int N> static T power(T x) { if constexpr (N == 0) return 1; else return (T)(x * power<T, N - 1>(x)); }
static thread_local Quiet local_object(5);
"#;

impl Gen {
    pub(super) fn cpp_function(&mut self) {
        match self.rng.below(6) {
            0..=2 => self.throwing_function(),
            3 => self.virtual_function(),
            4 => self.container_function(),
            _ => self.lambda_function(),
        }
    }

    fn throwing_function(&mut self) {
        let inner = self.fresh("th");
        let noise = self.rng.pick(&["", "__attribute__((noinline)) "]);
        self.open(&format!("{noise}static u64 {inner}(u64 x, int depth) {{"));
        self.vars = vec![self.var("x", Ty::U64, true)];
        self.line("Guard g(x);");
        let kinds = [
            "throw (int)(x & 1023);",
            "throw Failure(x);",
            "throw std::string(\"text\");",
            "throw Left(x);",
            "throw Both(x);",
            "throw 1.5;",
        ];
        for _ in 0..1 + self.rng.below(3) {
            let (c, throw) = (self.condition(1), self.rng.pick(&kinds));
            self.line(&format!("if ({c} && depth > {}) {throw}", self.indent));
            self.assign();
        }
        let depth = 3 + self.rng.below(5);
        let throw = self.rng.pick(&kinds);
        self.line(&format!("if (depth > {depth}) {throw}"));
        if self.rng.chance(60) {
            self.line(&format!("try {{ x += {inner}(x * 5 + 1, depth + 1); }}"));
            let catch = self.rng.pick(&[
                "catch (int i) { trail((u64)i); x ^= 1; }",
                "catch (const Failure &f) { trail(f.code); if (depth & 1) throw; }",
                "catch (const Base &b) { x = b.turn(x); }",
                "catch (const std::exception &e) { trail(strlen(e.what())); throw (int)7; }",
                "catch (...) { trail(99); throw; }",
            ]);
            self.line(catch);
        } else {
            self.line(&format!("x += {inner}(x * 3 + 1, depth + 1);"));
        }
        self.line("return x + 1;");
        self.close();
        let name = self.begin(150);
        self.line("u64 r = p0;");
        self.open("for (int i = 0; i < 3; i++) {");
        self.line("Guard outer(r + (u64)i);");
        self.line(&format!("try {{ r = {inner}(r + (u64)i, 0); trail(r); }}"));
        self.line("catch (int i) { r += (u64)i; }");
        self.line("catch (const Failure &f) { r ^= f.code; }");
        self.line("catch (const std::string &s) { r += s.size(); }");
        self.line("catch (const Base &b) { r = b.turn(r); }");
        self.line("catch (...) { r += 13; }");
        self.close();
        self.end(name, "r");
    }

    fn virtual_function(&mut self) {
        let name = self.begin(150);
        self.line("std::vector<std::unique_ptr<Base>> all;");
        self.open("for (u32 i = 0; i < 9; i++) {");
        self.line("switch ((p0 >> i) & 3) {");
        for (case, class) in ["Base", "Left", "Right"].iter().enumerate() {
            self.line(&format!(
                "case {case}: all.emplace_back(new {class}(p0 + i)); break;"
            ));
        }
        self.line("default: all.emplace_back(new Both(p0 ^ i)); }");
        self.close();
        self.line("u64 r = p0; u64 (Base::*member)(u64) const = &Base::turn;");
        self.line("for (const auto &b : all) r = b->turn(r);");
        self.line("for (const auto &b : all) { r = (b.get()->*member)(r); if (dynamic_cast<const Left *>(b.get())) r += 5; }");
        let result = self.expr(Ty::U64, 1);
        self.end(name, &format!("r + {result}"));
    }

    fn container_function(&mut self) {
        let name = self.begin(250);
        let ty = self.any_int();
        let ty = if ty.bits() == 128 { Ty::U64 } else { ty };
        let t = ty.c();
        self.line(&format!(
            "std::vector<{t}> a; std::map<u32, {t}> m; std::string s;"
        ));
        let count = 5 + self.rng.below(30);
        self.open(&format!("for (u32 i = 0; i < {count}; i++) {{"));
        self.vars.push(self.var("i", Ty::U32, false));
        let value = self.expr(ty, 3);
        let key = self.expr(Ty::U32, 2);
        self.line(&format!(
            "{t} x = {value}; a.push_back(x); m[({key}) & 15u] = x;"
        ));
        self.line("s += (char)('a' + (u64)x % 26u);");
        self.close();
        self.line("std::sort(a.begin(), a.end()); std::reverse(s.begin(), s.end());");
        self.line("for (auto x : a) trail((u64)x);");
        self.line("for (auto &p : m) trail(p.first * 31 + (u64)p.second);");
        self.line("u64 r = std::count_if(s.begin(), s.end(), [&](char c) { return (u64)c % 3 == p0 % 3; });");
        self.line("try { trail((u64)a.at((size_t)(p0 % 40))); } catch (const std::out_of_range &) { r += 3; }");
        self.end(name, "r + s.size()");
    }

    fn lambda_function(&mut self) {
        let name = self.begin(120);
        self.line("u64 r = p0;");
        self.vars.push(self.var("r", Ty::U64, true));
        let (a, b) = (self.expr(Ty::U64, 2), self.expr(Ty::U64, 2));
        self.line(&format!(
            "auto one = [&r, p0, p1](u64 x) {{ r += x; return x ^ ({a}); }};"
        ));
        self.line(&format!("std::function<u64(u64, int)> two = [&](u64 x, int n) -> u64 {{ return n == 0 ? ({b}) : one(x) + two(x + 1, n - 1); }};"));
        let power = self.rng.below(7);
        self.line(&format!("trail(two(p0, 4)); trail(power<u64, {power}>(r)); trail(local_object.v); local_object.v += r;"));
        self.line("static Quiet once(p0); trail(once.v & 0); once.v++;");
        self.end(name, "r");
    }
}
