// An exception through compiled code, an interpreted function (it calls setjmp), qsort and a
// compiled comparison; then longjmp out of compiled code.
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
struct D{ int i; ~D(){ printf("~%d ",i);} };
static jmp_buf jb;
extern "C" __attribute__((noinline)) int cmp(const void*a,const void*b){ D d{*(const int*)a}; if(*(const int*)a==4||*(const int*)b==4) throw 7; return *(const int*)a-*(const int*)b; }
__attribute__((noinline)) int interp(int *v){ if(setjmp(jb)) return -1; D d{100}; qsort(v,5,4,cmp); return 0; }
__attribute__((noinline)) void jumper(){ longjmp(jb,3); }
__attribute__((noinline)) int sj(){ int r=setjmp(jb); if(!r) jumper(); return r; }
int main(){ int v[5]={3,1,4,1,5}; for(int k=0;k<2;k++) try { D d{200}; interp(v); } catch(int x){ printf("caught %d\n",x);} printf("sj %d\n",sj()); }
