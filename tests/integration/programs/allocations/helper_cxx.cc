// What C++ code does to memory.
#include <cstddef>
#include <new>
#include <vector>

extern "C" void *get_new(std::size_t size)
{
	return new char[size];
}

extern "C" void give_back_new(void *block)
{
	delete[] static_cast<char *>(block);
}

extern "C" void *get_vector(std::size_t size)
{
	return new std::vector<char>(size);
}

extern "C" void give_back_vector(void *vector)
{
	delete static_cast<std::vector<char> *>(vector);
}

extern "C" int throws_bad_alloc()
{
	try {
		std::vector<char>(std::size_t(1) << 62);
	} catch (const std::bad_alloc &) {
		return 1;
	}
	return 0;
}
